// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// TestBrokenFramesNeverStopTheRelay: what is no event stream passes, and its end is the transfer's.
func TestBrokenFramesNeverStopTheRelay(t *testing.T) {
	good := framed(t, "converse.events")
	for name, text := range map[string][]byte{
		"no frames": []byte(`{"message":"I am a document"}`), "one bit": append(bytes.Clone(good[:100]), append([]byte{good[100] ^ 1}, good[101:]...)...),
	} {
		m := newMeter(dialect.FormatConverse, typeMessages)
		if got := relay(m, singles(text)...); !bytes.Equal(got, text) || !m.Complete() || !m.ContentSeen() {
			t.Errorf("%s: complete %v, same bytes %v", name, m.Complete(), bytes.Equal(got, text))
		}
		if m.Usage().Output > 20 {
			t.Errorf("%s: usage %+v", name, m.Usage())
		}
	}
}

// TestInvokeChunksThatCannotBeRead still count as content.
func TestInvokeChunksThatCannotBeRead(t *testing.T) {
	for name, payload := range map[string]string{
		"no base64": `{"bytes":"!!!"}`, "no JSON": `{"bytes":"AAAA"}`, "empty": `{"bytes":""}`, "escaped": `{"bytes":"eyJnZW5lcmF0aW9uIjoi8J\/Si\/CfmJIifQ=="}`,
	} {
		m := newMeter(dialect.FormatInvoke, typeMessages)
		relay(m, frames(t, []byte(`{"event":"chunk","payload":`+payload+`}`)))
		if m.Complete() || m.Usage() != dialect.Unknown() {
			t.Errorf("%s: %+v", name, m.Usage())
		}
		if seen := name == "no base64" || name == "escaped"; m.ContentSeen() != seen {
			t.Errorf("%s: content %v", name, m.ContentSeen())
		}
	}
}

// TestB9ModelsEndInTheirOwnWords: chunks behind which Bedrock's metrics may be missing.
func TestB9ModelsEndInTheirOwnWords(t *testing.T) {
	for chunk, want := range map[string]bool{
		`{"generation":"a","stop_reason":null}`:                                          false,
		`{"generation":"","stop_reason":"length"}`:                                       true,
		`{"outputs":[{"text":"a","stop_reason":"stop"}]}`:                                true,
		`{"outputText":"a","completionReason":"FINISH"}`:                                 true,
		`{"outputText":"\"completionReason\":\"x\"","completionReason":null}`:            false,
		`{"choices":[{"message":{"content":"a"},"stop_reason":"stop"}]}`:                 true,
		`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`:                   false,
		`{"text":"a","is_finished":true,"finish_reason":"COMPLETE"}`:                     true,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}`:         false,
		`{"type":"message_stop"}`:                                                        true,
		`{"messageStop":{"stopReason":"end_turn"}}`:                                      true,
		`{"contentBlockDelta":{"delta":{"text":"a"},"contentBlockIndex":0}}`:             false,
		`{"something":"else","amazon-bedrock-invocationMetrics":{"outputTokenCount":1}}`: true,
	} {
		m := newMeter(dialect.FormatInvoke, typeMessages)
		relay(m, frames(t, []byte(`{"event":"chunk","payload":{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(chunk))+`"}}`)))
		if m.Complete() != want {
			t.Errorf("%s: complete %v", chunk, m.Complete())
		}
	}
}
