// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// several is a meter of a stream that was asked for so many choices.
func several(f dialect.Format, contentType string, n int64) dialect.Meter {
	op := dialect.Operation{Name: "chat", Format: f, Metered: true}
	return New(op, http.Header{"Content-Type": {contentType}}, dialect.MeterOptions{Stream: true, Choices: n, StripUsage: f == dialect.FormatChat}, keepClass)
}

func piece(i int) string {
	return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":"a"},"finish_reason":null}],"usage":null}`, i)
}

func last(i int) string {
	return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{},"finish_reason":"stop"}]}`, i)
}

func candidate(index, reason string) string {
	return `{"candidates":[{"content":{"parts":[{"text":"a"}]}` + index + reason + `}]}`
}

// TestB9OfSeveralChoicesAllMustEnd: a stream that stops when the first is over has broken off.
func TestB9OfSeveralChoicesAllMustEnd(t *testing.T) {
	const usage = `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}`
	const two, stop = `,"index":1`, `,"finishReason":"STOP"`
	chat, generate := dialect.FormatChat, dialect.FormatGenerate
	for name, tc := range map[string]struct {
		format   dialect.Format
		n        int64
		events   []string
		complete bool
		output   int64
	}{
		"one of one":               {chat, 1, []string{piece(0), last(0)}, true, 1},
		"one of two":               {chat, 2, []string{piece(0), piece(1), last(0)}, false, 2},
		"the other of two":         {chat, 2, []string{piece(0), piece(1), last(1)}, false, 2},
		"both":                     {chat, 2, []string{piece(0), piece(1), last(1), last(0), usage}, true, 6},
		"one after the other":      {chat, 2, []string{piece(0), last(0), piece(1)}, false, 2},
		"both in one event":        {chat, 2, []string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null},{"index":1,"delta":{},"finish_reason":"stop"}]}`}, false, 1},
		"by the word for it":       {chat, 2, []string{piece(0), piece(1), last(0), "[DONE]"}, true, 2},
		"one that had no more":     {chat, 4, []string{piece(0), last(0)}, true, 1},
		"the last of very many":    {chat, 128, []string{piece(0), piece(127), last(0)}, false, 2},
		"one that cannot be":       {chat, 2, []string{piece(0), piece(1 << 20), last(0)}, true, 2},
		"one without a number":     {chat, 2, []string{`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`, last(0)}, true, 1},
		"one of two candidates":    {generate, 2, []string{candidate("", ""), candidate(two, ""), candidate("", stop)}, false, 3},
		"both candidates":          {generate, 2, []string{candidate("", ""), candidate(two, stop), candidate("", stop)}, true, 3},
		"a candidate said to last": {generate, 1, []string{candidate("", stop), candidate("", stop)}, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			text := data(tc.events...)
			for cut := range len(text) + 1 {
				m := several(tc.format, typeEvents, tc.n)
				relay(m, text[:cut], text[cut:])
				if m.Complete() != tc.complete || m.OutputSoFar() != tc.output || !m.ContentSeen() {
					t.Fatalf("cut at %d: complete %v, output %d, content %v", cut, m.Complete(), m.OutputSoFar(), m.ContentSeen())
				}
			}
		})
	}
}

// TestB6AndB9TheInjectedChunkGoesFromSeveralChoicesToo, and an error of one choice is the stream's.
func TestB6AndB9TheInjectedChunkGoesFromSeveralChoicesToo(t *testing.T) {
	kept := string(data(piece(0), piece(1), last(0), last(1)))
	m := several(dialect.FormatChat, typeEvents, 2)
	if got := string(relay(m, []byte(kept), data(`{"choices":null,"usage":{"completion_tokens":6}}`))); got != kept || m.Usage().Output != 6 {
		t.Errorf("%q, usage %+v", got, m.Usage())
	}
	m = several(dialect.FormatChat, typeEvents, 2)
	relay(m, data(piece(0), `{"choices":[{"index":0,"delta":{}},{"index":1,"finish_reason":"error","error":{"code":502}}]}`))
	if f, failed := m.StreamFailure(); !failed || f.Message != `{"error":{"code":502}}` {
		t.Errorf("failed %v: %+v", failed, f)
	}
}

// TestStreamsAreToldByTheirType, however it is written.
func TestStreamsAreToldByTheirType(t *testing.T) {
	for contentType, want := range map[string]bool{
		"text/event-stream": true, "Text/Event-Stream; charset=utf-8": true, "application/x-ndjson": true, "application/jsonl;q=1": true,
		"application/vnd.amazon.eventstream": true, "application/stream+json": true, "application/json-seq": true,
		"application/json": false, "": false, "text/plain": false, "text/event-streams": false,
	} {
		if got := Framed(contentType); got != want {
			t.Errorf("%q: %v", contentType, got)
		}
	}
}
