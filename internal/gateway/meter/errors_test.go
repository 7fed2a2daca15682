// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// keepClass keeps the document it is given, as a message.
func keepClass(document []byte) dialect.Failure {
	return dialect.Failure{Class: dialect.ClassTransient, Message: string(document)}
}

// TestA11ErrorsInStreamsOfEachFormat: what the classifier is given, and whether content came before.
func TestA11ErrorsInStreamsOfEachFormat(t *testing.T) {
	lines := func(documents ...string) string { return strings.Join(documents, "\n") + "\n" }
	framesOf := func(documents ...string) string { return string(frames(t, []byte(lines(documents...)))) }
	events := func(documents ...string) string { return string(data(documents...)) }
	for name, tc := range map[string]struct {
		format            dialect.Format
		contentType, text string
		content           bool
		want              string
	}{
		"Gemini": {
			dialect.FormatGenerate, typeEvents, events(`{"error":{"code":503,"status":"UNAVAILABLE"}}`), false,
			`{"error":{"code":503,"status":"UNAVAILABLE"}}`,
		},
		"Gemini, wrapped": {
			dialect.FormatGenerate, typeEvents, events(`[{"error":{"code":429}}]`), false, `{"error":{"code":429}}`,
		},
		"Gemini's array, later": {
			dialect.FormatGenerate, typeJSON, `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"error":{"code":503}}]`, true,
			`{"error":{"code":503}}`,
		},
		"Gemini's array, at once": {dialect.FormatGenerate, typeJSON, `[{"error":{"code":503}}]`, false, `{"error":{"code":503}}`},
		"Gemini's document":       {dialect.FormatGenerate, typeJSON, `{"error":{"code":503}}`, false, `{"error":{"code":503}}`},
		"Bedrock": {
			dialect.FormatConverse, typeMessages,
			framesOf(`{"event":"messageStart","payload":{"role":"assistant"}}`, `{"exception":"throttlingException","payload":{"message":"Too many \"tokens\""}}`),
			false, `{"__type":"ThrottlingException","message":"Too many \"tokens\""}`,
		},
		"Bedrock, later": {
			dialect.FormatInvoke, typeMessages,
			framesOf(`{"event":"chunk","payload":{"bytes":"eyJnZW5lcmF0aW9uIjoiSGkifQ=="}}`, `{"exception":"modelStreamErrorException","payload":{}}`),
			true, `{"__type":"ModelStreamErrorException","message":""}`,
		},
		"Bedrock, no event": {
			dialect.FormatConverse, typeMessages, framesOf(`{"code":"InternalFailure","message":"gone","payload":{}}`), false,
			`{"__type":"InternalFailure","message":"gone"}`,
		},
		"Bedrock, Anthropic's": {
			dialect.FormatInvoke, typeMessages, framesOf(`{"event":"chunk","payload":{"bytes":"eyJ0eXBlIjoiZXJyb3IiLCJlcnJvciI6e319"}}`), false,
			`{"type":"error","error":{}}`,
		},
		"Cohere": {
			dialect.FormatCohere, typeEvents, events(`{"type":"message-end","delta":{"finish_reason":"ERROR","error":"timeout"}}`), false,
			`{"message":"timeout"}`,
		},
		"Ollama": {
			dialect.FormatOllama, typeLines, lines(`{"message":{"content":"a"},"done":false}`, `{"error":"unexpected EOF"}`), true,
			`{"error":"unexpected EOF"}`,
		},
		"Ollama, with content": {
			dialect.FormatOllama, typeLines, lines(`{"message":{"content":""},"done":false,"error":"gone"}`), false,
			`{"message":{"content":""},"done":false,"error":"gone"}`,
		},
		"TGI": {
			dialect.FormatTGI, typeEvents, events(`{"error":"Model is overloaded","error_type":"overloaded"}`), false,
			`{"error":"Model is overloaded","error_type":"overloaded"}`,
		},
		"OpenRouter": {
			dialect.FormatChat, typeEvents,
			events(`{"error":{"code":502},"choices":[{"delta":{"content":""},"finish_reason":"error","native_finish_reason":null}]}`), false,
			`{"error":{"code":502},"choices":[{"delta":{"content":""},"finish_reason":"error","native_finish_reason":null}]}`,
		},
		"OpenRouter, in the choice": {
			dialect.FormatChat, typeEvents,
			events(`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`, `{"choices":[{"native_finish_reason":"x","finish_reason":"error","error":{"code":502}}]}`),
			true, `{"error":{"code":502}}`,
		},
		"OpenRouter, unexplained": {
			dialect.FormatChat, typeEvents, events(`{"choices":[{"finish_reason":"error"}]}`), false, `{"choices":[{"finish_reason":"error"}]}`,
		},
		"OpenRouter's document": {
			dialect.FormatChat, typeJSON, `{"choices":[{"message":{"content":"half"},"finish_reason":"error","error":{"code":502}}],"usage":{}}`, true,
			`{"error":{"code":502}}`,
		},
		"a name that says it, and codes alone": {
			dialect.FormatChat, typeEvents, "event: error\ndata: {\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}\n\n", false,
			`{"code":"rate_limit_exceeded","message":"slow"}`,
		},
		"a name that says it, and words": {dialect.FormatChat, typeEvents, "event: error\ndata: over capacity\n\n", false, "over capacity"},
		"a type that says it":            {dialect.FormatChat, typeEvents, events(`{"type":"error","message":"gone"}`), false, `{"type":"error","message":"gone"}`},
		"that there is one":              {dialect.FormatChat, typeEvents, events(`{"error":true,"message":"gone"}`), false, `{"error":true,"message":"gone"}`},
		"the second of two choices": {
			dialect.FormatChat, typeEvents, events(`{"choices":[{"finish_reason":"error"},{"index":1,"finish_reason":"error"}]}`), false,
			`{"choices":[{"finish_reason":"error"},{"index":1,"finish_reason":"error"}]}`,
		},
		"Anthropic's, by a proxy":  {dialect.FormatMessages, typeEvents, events(`{"error":{"message":"gone"}}`), false, `{"error":{"message":"gone"}}`},
		"a response's, by a proxy": {dialect.FormatResponses, typeEvents, events(`{"type":"response.error","error":{"code":"x"}}`), false, `{"type":"response.error","error":{"code":"x"}}`},
		"Cohere, without its words": {
			dialect.FormatCohere, typeEvents, events(`{"type":"message-end","delta":{"finish_reason":"ERROR"}}`), false,
			`{"type":"message-end","delta":{"finish_reason":"ERROR"}}`,
		},
		"Cohere, flat":   {dialect.FormatCohere, typeEvents, events(`{"message":"gone"}`), false, `{"message":"gone"}`},
		"Groq":           {dialect.FormatChat, typeEvents, events(`{"choices":[{"finish_reason":"stop"}],"x_groq":{"error":"over capacity"}}`), false, `{"error":"over capacity"}`},
		"vLLM":           {dialect.FormatChat, typeEvents, events(`{"object":"error","message":"gone"}`), false, `{"object":"error","message":"gone"}`},
		"xAI's document": {dialect.FormatChat, typeJSON, `{"code":"x","error":"gone"}`, true, `{"code":"x","error":"gone"}`},
		"a failed response": {
			dialect.FormatResponses, typeJSON, `{"object":"response","status":"failed","error":{"code":"server_error"}}`, true,
			`{"error":{"code":"server_error"}}`,
		},
		"Anthropic's document": {
			dialect.FormatMessages, typeJSON, `{"type":"error","error":{"type":"overloaded_error"}}`, true, `{"type":"error","error":{"type":"overloaded_error"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for cut := range len(tc.text) + 1 {
				op := dialect.Operation{Name: "chat", Format: tc.format, Stream: true}
				m := New(op, http.Header{"Content-Type": {tc.contentType}}, dialect.MeterOptions{}, keepClass)
				if got := relay(m, []byte(tc.text[:cut]), []byte(tc.text[cut:])); string(got) != tc.text {
					t.Fatalf("cut at %d: %q", cut, got)
				}
				if f, failed := m.StreamFailure(); !failed || f.Message != tc.want || m.ContentSeen() != tc.content {
					t.Fatalf("cut at %d: failed %v, %s, content %v", cut, failed, f.Message, m.ContentSeen())
				}
			}
		})
	}
}

// TestNoErrorIsFoundWhereNoneIs: members that providers leave empty, and words in what was generated.
func TestNoErrorIsFoundWhereNoneIs(t *testing.T) {
	for name, tc := range map[string]struct {
		format            dialect.Format
		contentType, text string
	}{
		"null":          {dialect.FormatChat, typeEvents, string(data(`{"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))},
		"false":         {dialect.FormatChat, typeEvents, string(data(`{"error":false,"type":"chunk","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`))},
		"Cohere":        {dialect.FormatCohere, typeEvents, string(data(`{"type":"message-start","delta":{"message":{"role":"assistant"}}}`))},
		"empty":         {dialect.FormatChat, typeEvents, string(data(`{"error":"","choices":[]}`))},
		"document":      {dialect.FormatResponses, typeJSON, `{"object":"response","error":null}`},
		"Gemini":        {dialect.FormatGenerate, typeEvents, string(data(`{"candidates":[{"content":{"parts":[{"text":"{\"error\":{}}"}]}}]}`))},
		"Ollama":        {dialect.FormatOllama, typeLines, `{"message":{"content":"\"error\":\"x\""},"done":false}` + "\n"},
		"TGI":           {dialect.FormatTGI, typeEvents, string(data(`{"token":{"text":"\"error\":{}"},"generated_text":null}`))},
		"Groq":          {dialect.FormatChat, typeEvents, string(data(`{"choices":[{"finish_reason":"stop"}],"x_groq":{"id":"r"}}`))},
		"no prompt":     {dialect.FormatGenerate, typeEvents, string(data(`{"promptFeedback":{"blockReason":"SAFETY"}}`))},
		"not an object": {dialect.FormatGenerate, typeEvents, string(data(`"{\"error\":{}}"`, "7", "", "[", "[[]]"))},
	} {
		m := newMeter(tc.format, tc.contentType)
		relay(m, []byte(tc.text))
		if f, failed := m.StreamFailure(); failed {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
