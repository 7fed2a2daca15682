// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

func data(documents ...string) []byte {
	return []byte("data: " + strings.Join(documents, "\n\ndata: ") + "\n\n")
}

// TestC1CumulativeUsageReplaces: values are never added, and what states nothing replaces nothing.
//
// Fault C1: Usage that a stream states again and again, each time as the total so far, was added up.
// Headgate: The last value of each field wins, what is not stated replaces nothing, and every recorded stream gives its
// own total.
func TestC1CumulativeUsageReplaces(t *testing.T) {
	const start = `{"type":"message_start","message":{"usage":{"input_tokens":317,"cache_creation_input_tokens":4425,"output_tokens":1}}}`
	want := dialect.Usage{Input: 317, Output: 64, CachedRead: -1, CacheWrite: 4425, Reasoning: -1, CacheOutside: true}
	for name, events := range map[string][]string{
		"the same again":    {start, `{"type":"message_delta","usage":{"input_tokens":317,"cache_creation_input_tokens":4425,"output_tokens":64}}`},
		"two deltas":        {start, `{"type":"message_delta","usage":{"output_tokens":40}}`, `{"type":"message_delta","usage":{"output_tokens":64}}`},
		"only output":       {start, `{"type":"message_delta","usage":{"output_tokens":64}}`},
		"null afterwards":   {start, `{"type":"message_delta","usage":{"output_tokens":64}}`, `{"type":"message_delta","usage":null}`},
		"null members":      {start, `{"type":"message_delta","usage":{"input_tokens":null,"output_tokens":64}}`},
		"zero afterwards":   {start, `{"type":"message_delta","usage":{"input_tokens":0,"output_tokens":64}}`},
		"negative is none":  {start, `{"type":"message_delta","usage":{"input_tokens":-1,"output_tokens":64}}`},
		"a string is none":  {start, `{"type":"message_delta","usage":{"input_tokens":"9","output_tokens":64}}`},
		"the wrong order":   {start, `{"type":"message_delta","usage":{"output_tokens":64}}`, `{"type":"message_delta","usage":{"output_tokens":40}}`},
		"repeated":          {start, start, `{"type":"message_delta","usage":{"output_tokens":64}}`, `{"type":"message_delta","usage":{"output_tokens":64}}`},
		"delta first":       {`{"type":"message_delta","usage":{"output_tokens":64}}`, start},
		"start says it all": {strings.Replace(start, `"output_tokens":1`, `"output_tokens":64`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			m := streamMeter("messages", false)
			relay(m, data(events...))
			if diff := cmp.Diff(want, m.Usage()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestC1WithoutTheLastUsageOutputIsCounted: what message_start says was said before anything was produced.
func TestC1WithoutTheLastUsageOutputIsCounted(t *testing.T) {
	const start = `{"type":"message_start","message":{"usage":{"input_tokens":317,"output_tokens":1}}}`
	const delta = `{"type":"content_block_delta","delta":{"type":"text_delta","text":"twelve bytes"}}`
	for name, last := range map[string][]string{
		"none":        {`{"type":"message_stop"}`},
		"no usage":    {`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`},
		"only input":  {`{"type":"message_delta","usage":{"input_tokens":317}}`, `{"type":"message_stop"}`},
		"nothing":     {`{"type":"message_delta","usage":{"output_tokens":0}}`, `{"type":"message_stop"}`},
		"broken off":  nil,
		"null":        {`{"type":"message_delta","usage":null}`, `{"type":"message_stop"}`},
		"null output": {`{"type":"message_delta","usage":{"output_tokens":null}}`, `{"type":"message_stop"}`},
	} {
		m := streamMeter("messages", false)
		relay(m, data(append([]string{start, delta, delta, delta}, last...)...))
		want := int64(12)
		if last == nil {
			want = 1 // what broke off is settled at what was seen
		}
		if u := m.Usage(); u.Input != 317 || u.Output != want || m.OutputSoFar() != 12 {
			t.Errorf("%s: %+v, %d so far", name, u, m.OutputSoFar())
		}
	}
	m := streamMeter("messages", false)
	relay(m, data(start, delta, delta, delta, `{"type":"message_delta","usage":{"output_tokens":2}}`, `{"type":"message_stop"}`))
	if u := m.Usage(); u.Output != 2 || m.OutputSoFar() != 2 {
		t.Errorf("what is reported counts: %+v, %d so far", u, m.OutputSoFar())
	}
}

// TestB5NullUsageReplacesNothing: some providers send usage early and null on every chunk behind it.
func TestB5NullUsageReplacesNothing(t *testing.T) {
	m := streamMeter("chat", false)
	relay(m, data(
		`{"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
		`{"choices":[{"delta":{"content":"b"},"finish_reason":null}],"usage":null}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}`))
	if u := m.Usage(); u.Input != 3 || u.Output != 1 {
		t.Errorf("usage %+v", u)
	}
}

// TestB5NoUsageIsUnknown: output is then counted by deltas and text, never 0.
func TestB5NoUsageIsUnknown(t *testing.T) {
	for operation, event := range map[string]string{
		"chat":      `{"choices":[{"delta":{"content":"twelve bytes"},"finish_reason":null}]}`,
		"messages":  `{"type":"content_block_delta","delta":{"type":"text_delta","text":"twelve bytes"}}`,
		"responses": `{"type":"response.output_text.delta","delta":"twelve bytes"}`,
		"chat ":     `{ "choices" : [ { "delta" : { "content" : "twelve bytes" }, "finish_reason" : null } ] }`,
		"chat  ":    `{"choices":[{"delta":{"content":null,"reasoning_content":"twelve bytes"},"finish_reason":null}]}`,
		"chat   ":   `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"twelve bytes"}}]},"finish_reason":null}]}`,
		"chat    ":  `{"choices":[{"delta":{"content":"twelve bytes"}}]}`,
		"messages ": `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"twelve bytes"}}`,
	} {
		m := streamMeter(strings.TrimSpace(operation), false)
		for range 10 {
			m.Write(data(event))
		}
		m.Close()
		if u := m.Usage(); u.Output != -1 || u.Input != -1 {
			t.Errorf("%s: usage %+v, want unknown", operation, u)
		}
		if got := m.OutputSoFar(); got != 40 {
			t.Errorf("%s: output so far %d, want 120 bytes / 3", operation, got)
		}
		if m.Complete() {
			t.Errorf("%s: complete without its end", operation)
		}
	}
}

// TestB9EndsAreSeen: what ends each stream, and what does not.
func TestB9EndsAreSeen(t *testing.T) {
	cases := map[string]struct {
		operation, event string
		want             bool
	}{
		"finish reason":       {"chat", `{"choices":[{"delta":{},"finish_reason":"length"}]}`, true},
		"spaced":              {"chat", `{ "choices" : [ { "delta" : {}, "finish_reason" : "stop" } ] }`, true},
		"done":                {"chat", "[DONE]", true},
		"an empty reason":     {"chat", `{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}`, false},
		"no reason yet":       {"chat", `{"choices":[{"delta":{"content":"\"finish_reason\":\"stop\""},"finish_reason":null}]}`, false},
		"message_stop":        {"messages", `{"type":"message_stop"}`, true},
		"message_delta":       {"messages", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, false},
		"response.completed":  {"responses", `{"type":"response.completed","response":{}}`, true},
		"response.incomplete": {"responses", `{"type":"response.incomplete","response":{}}`, true},
		"output done":         {"responses", `{"type":"response.output_item.done"}`, false},
	}
	for name, tc := range cases {
		m := streamMeter(tc.operation, false)
		m.Write(data(tc.event))
		if got := m.Complete(); got != tc.want {
			t.Errorf("%s: complete %v, want %v", name, got, tc.want)
		}
	}
}

// TestA11ErrorEvents: an error event is a failure; whether content came before it decides about a replay.
func TestA11ErrorEvents(t *testing.T) {
	const overload = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	const start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n"
	const delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"x\"}}\n\n"
	cases := map[string]struct {
		operation, text string
		content         bool
		class           dialect.Class
	}{
		"before content":        {"messages", start + overload, false, dialect.ClassOverload},
		"after content":         {"messages", start + delta + overload, true, dialect.ClassOverload},
		"chat":                  {"chat", "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", false, dialect.ClassOverload},
		"chat, after its role":  {"chat", string(data(`{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, `{"error":"overloaded"}`)), false, dialect.ClassOverload},
		"responses":             {"responses", "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\"}\n\n", false, dialect.ClassTransient},
		"responses that failed": {"responses", string(data(`{"type":"response.failed","response":{"error":{"code":"overloaded"}}}`)), false, dialect.ClassOverload},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := streamMeter(tc.operation, false)
			if got := string(relay(m, []byte(tc.text))); got != tc.text {
				t.Errorf("not verbatim: %q", got)
			}
			f, failed := m.StreamFailure()
			if !failed || f.Class != tc.class || m.ContentSeen() != tc.content {
				t.Errorf("failed %v, class %q, content %v", failed, f.Class, m.ContentSeen())
			}
		})
	}
}

func documentOf(operation string) dialect.Meter {
	h := http.Header{"Content-Type": {"application/json"}}
	return New(dialect.Operation{Name: operation, Format: dialect.Format(operation)}, h, dialect.MeterOptions{Stream: true}, testClass)
}

// TestDocuments: usage is found wherever it stands in a document of any length, and the end of the document
// is its end, also where a stream was asked for.
func TestDocuments(t *testing.T) {
	vectors := `"data":[{"embedding":[` + strings.Repeat("-0.0123456,", 600_000) + `1]}]`
	cases := map[string]struct {
		operation, text string
		want            dialect.Usage
	}{
		"chat": {
			"chat", `{"id":"c","choices":[{"message":{"content":"\"usage\":{}"}}],"usage":{"prompt_tokens":10000,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8000}}}`,
			dialect.Usage{Input: 10000, Output: 2, CachedRead: 8000, CacheWrite: -1, Reasoning: -1},
		},
		"messages": {
			"messages", `{"type":"message","usage":{"input_tokens":200,"cache_read_input_tokens":8000,"cache_creation_input_tokens":500,"output_tokens":9},"content":[]}`,
			dialect.Usage{Input: 200, Output: 9, CachedRead: 8000, CacheWrite: 500, Reasoning: -1, CacheOutside: true},
		},
		"embeddings, usage last":  {"embeddings", "{" + vectors + `,"usage":{"prompt_tokens":5,"total_tokens":5}}`, dialect.Usage{Input: 5, CachedRead: -1, CacheWrite: -1, Reasoning: -1}},
		"embeddings, usage first": {"embeddings", `{"usage":{"prompt_tokens":5,"total_tokens":5},` + vectors + "}", dialect.Usage{Input: 5, CachedRead: -1, CacheWrite: -1, Reasoning: -1}},
		"no usage":                {"chat", `{"choices":[]}`, dialect.Unknown()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := documentOf(tc.operation)
			var out []byte
			for rest := []byte(tc.text); len(rest) > 0; {
				n := min(len(rest), 10_007)
				if m.Complete() {
					t.Fatal("complete before its end")
				}
				out = append(out, m.Write(rest[:n])...)
				rest = rest[n:]
			}
			if !m.Complete() || !m.ContentSeen() || !bytes.Equal(out, []byte(tc.text)) {
				t.Errorf("complete %v, content %v", m.Complete(), m.ContentSeen())
			}
			if diff := cmp.Diff(tc.want, m.Usage()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestC3CachedTokens: what input limits are charged for cached input.
//
// Fault C3: Cached input was charged twice, or charged where the provider does not count it.
// Headgate: Each API's fields are told apart, beside or inside the prompt; limits charge what the dialect says the
// provider does, and the estimate learns how much of a prompt is usually cached.
func TestC3CachedTokens(t *testing.T) {
	outside := dialect.Usage{Input: 200, CachedRead: 8000, CacheWrite: 500, CacheOutside: true}
	inside := dialect.Usage{Input: 10000, CachedRead: 8000, CacheWrite: -1}
	for name, tc := range map[string]struct {
		usage dialect.Usage
		free  bool
		want  int64
	}{
		"outside, free":    {outside, true, 700},
		"outside, counted": {outside, false, 8700},
		"inside, free":     {inside, true, 2000},
		"inside, counted":  {inside, false, 10000},
		"unknown":          {dialect.Unknown(), true, -1},
	} {
		if got := tc.usage.ChargedInput(tc.free); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// TestBrokenDocument: usage that passed counts, and the document is not complete.
func TestBrokenDocument(t *testing.T) {
	m := documentOf("chat")
	m.Write([]byte(`{"usage":{"prompt_tokens":4,"completion_tokens":1},"choices":[{"mess`))
	m.Close()
	if m.Complete() || m.Usage().Input != 4 {
		t.Errorf("complete %v, usage %+v", m.Complete(), m.Usage())
	}
}

// TestCompressedBodiesPass: they cannot be read, and nothing is claimed of them.
func TestCompressedBodiesPass(t *testing.T) {
	h := event()
	h.Set("Content-Encoding", "gzip")
	m := New(dialect.Operation{Name: "chat"}, h, dialect.MeterOptions{Stream: true, StripUsage: true}, testClass)
	text := []byte("\x1f\x8bdata: {\"choices\":[],\"usage\":{}}\n\n")
	if got := relay(m, text); !bytes.Equal(got, text) || m.Usage() != dialect.Unknown() || !m.Complete() {
		t.Errorf("got %q, usage %+v", got, m.Usage())
	}
}

// FuzzStrip: without an event that is the usage chunk every byte passes, and what goes does not depend on
// the cut.
func FuzzStrip(f *testing.F) {
	f.Add("data: {\"choices\":[],\"usage\":1}\r\rdata", uint16(5))
	f.Add(string(data(`{"choices":[],"usage":{}}`, "[DONE]")), uint16(12))
	f.Add("event: x\r\ndata: {\"choices\":[],\"usage\":{}}\r\n\r\n", uint16(4))
	f.Add("data: {\"x\":{\"choices\":[1]},\"choices\":[],\"usage\":{}}\n\n", uint16(35))
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		i := int(cut) % (len(text) + 1)
		got := relay(streamMeter("chat", true), []byte(text[:i]), []byte(text[i:]))
		one := relay(streamMeter("chat", true), []byte(text))
		if !strings.Contains(text, "usage") && string(got) != text {
			t.Errorf("cut at %d: %q became %q", i, text, got)
		}
		if !bytes.Equal(one, got) || len(one) > len(text) {
			t.Errorf("cut at %d: %q, in one piece %q", i, got, one)
		}
	})
}

// BenchmarkChatDelta, BenchmarkMessagesDelta: the cost of one event of a stream.
func BenchmarkChatDelta(b *testing.B) {
	benchmark(b, "chat", `data: {"id":"chatcmpl-Aa1","object":"chat.completion.chunk","created":1781524800,"model":"gpt-5-mini-2026-03-01","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}`)
}

func BenchmarkMessagesDelta(b *testing.B) {
	benchmark(b, "messages", "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}")
}

func benchmark(b *testing.B, operation, event string) {
	b.Helper()
	for name, strip := range map[string]bool{"plain": false, "strip": true} {
		b.Run(name, func(b *testing.B) {
			m := streamMeter(operation, strip)
			p := []byte(event + "\n\n")
			b.ReportAllocs()
			for b.Loop() {
				m.Write(p)
			}
			if !m.ContentSeen() {
				b.Fatal("no content")
			}
		})
	}
}
