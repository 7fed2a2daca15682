// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// TestB3LongEventsOfEachFormat: however long an event is, every byte passes, what it says of the end and of
// usage is found, and so is what comes behind it.
func TestB3LongEventsOfEachFormat(t *testing.T) {
	for name, tc := range map[string]struct {
		format              dialect.Format
		contentType         string
		before, after, next string
	}{
		"Gemini": {
			dialect.FormatGenerate, typeEvents, `data: {"candidates":[{"content":{"parts":[{"inlineData":{"data":"`,
			`"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":6}}` + "\n\n", "",
		},
		"Gemini's array": {
			dialect.FormatGenerate, typeJSON, `[{"candidates":[{"content":{"parts":[{"text":"`, `"}]}}]},`,
			`{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":6}}]`,
		},
		"Cohere": {
			dialect.FormatCohere, typeEvents, "event: content-delta\ndata: " + `{"delta":{"message":{"content":{"text":"`, `"}}}}` + "\n\n",
			`data: {"type":"message-end","delta":{"usage":{"tokens":{"input_tokens":5,"output_tokens":6}}}}` + "\n\n",
		},
		"Ollama": {dialect.FormatOllama, typeLines, `{"response":"`, `","done":true,"prompt_eval_count":5,"eval_count":6}` + "\n", ""},
		"TGI": {
			dialect.FormatTGI, typeEvents, `data:{"token":{"text":"a"},"generated_text":"`,
			`","details":{"finish_reason":"length","generated_tokens":6,"input_length":5}}` + "\n\n", "",
		},
		"chat": {
			dialect.FormatChat, typeEvents, `data: {"choices":[{"delta":{"content":"`,
			`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6}}` + "\n\n", "",
		},
	} {
		for _, size := range []int{65_535, 65_536, 1 << 20, 5 << 20} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				text := []byte(tc.before + strings.Repeat("x", size-len(tc.before)-len(tc.after)) + tc.after + tc.next)
				m := newMeter(tc.format, tc.contentType)
				h := sha256.New()
				for rest := text; len(rest) > 0; {
					n := min(len(rest), 32<<10)
					h.Write(m.Write(rest[:n]))
					rest = rest[n:]
				}
				h.Write(m.Close())
				if [32]byte(h.Sum(nil)) != sha256.Sum256(text) {
					t.Error("the bytes have changed")
				}
				if u := m.Usage(); u.Input != 5 || u.Output != 6 || !m.Complete() || !m.ContentSeen() {
					t.Errorf("usage %+v, complete %v", u, m.Complete())
				}
			})
		}
	}
}
