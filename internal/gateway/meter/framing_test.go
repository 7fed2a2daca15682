// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/eventstream"
)

// The content types of the framings.
const (
	typeEvents   = "text/event-stream"
	typeMessages = "application/vnd.amazon.eventstream"
	typeLines    = "application/x-ndjson"
	typeJSON     = "application/json"
	typeText     = "text/plain"
)

// untyped is what its first byte will tell.
const untyped framing = 255

// typeOfFile is the content type of a recorded stream.
var typeOfFile = map[string]string{".sse": typeEvents, ".events": typeMessages, ".ndjson": typeLines, ".json": typeJSON + "; charset=UTF-8"}

// newMeter meters a stream of a format.
func newMeter(f dialect.Format, contentType string) dialect.Meter {
	op := dialect.Operation{Name: "chat", Format: f, Metered: true, Stream: true}
	return New(op, http.Header{"Content-Type": {contentType}}, dialect.MeterOptions{}, testClass)
}

// framed is a recorded stream as it is sent.
func framed(tb testing.TB, file string) []byte {
	tb.Helper()
	text := read(tb, file)
	if path.Ext(file) == ".events" {
		return frames(tb, text)
	}
	return text
}

// frames makes an AWS event stream of lines such as {"event":NAME,"payload":{…}}.
func frames(tb testing.TB, lines []byte) (out []byte) {
	tb.Helper()
	for line := range bytes.Lines(lines) {
		var e struct {
			Event, Exception, Code, Message string
			Payload                         json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			tb.Fatal(err)
		}
		headers := []eventstream.Header{{Name: ":event-type", Value: e.Event}, {Name: ":message-type", Value: "event"}}
		switch {
		case e.Exception != "":
			headers = []eventstream.Header{{Name: ":exception-type", Value: e.Exception}, {Name: ":message-type", Value: "exception"}}
		case e.Code != "":
			headers = []eventstream.Header{
				{Name: ":error-code", Value: e.Code}, {Name: ":error-message", Value: e.Message}, {Name: ":message-type", Value: "error"},
			}
		}
		out = eventstream.Append(out, append(headers, eventstream.Header{Name: ":content-type", Value: "application/json"}), e.Payload)
	}
	return out
}

// TestFramingFollowsTheContentType, and what was asked for only where the response states none.
func TestFramingFollowsTheContentType(t *testing.T) {
	for name, tc := range map[string]struct {
		format      dialect.Format
		contentType string
		stream      bool
		want        framing
	}{
		"events":                   {dialect.FormatChat, "Text/Event-Stream; charset=utf-8", true, framedEvents},
		"events, not asked for":    {dialect.FormatChat, typeEvents, false, framedEvents},
		"document, though asked":   {dialect.FormatChat, typeJSON, true, untyped},
		"document, not asked for":  {dialect.FormatChat, typeJSON, false, document},
		"text":                     {dialect.FormatChat, typeText, true, untyped},
		"text, not asked for":      {dialect.FormatChat, typeText, false, document},
		"text of Bedrock":          {dialect.FormatConverse, typeText, true, document},
		"lines of chat":            {dialect.FormatChat, typeLines, true, framedLines},
		"lines of Cohere":          {dialect.FormatCohere, "application/stream+json", true, framedLines},
		"lines of any name":        {dialect.FormatOllama, "application/jsonl;charset=utf-8", true, framedLines},
		"Ollama's JSON":            {dialect.FormatOllama, typeJSON, true, framedValues},
		"Ollama's document":        {dialect.FormatOllama, typeJSON, false, document},
		"Gemini's array":           {dialect.FormatGenerate, typeJSON, true, framedValues},
		"Gemini's document":        {dialect.FormatGenerate, typeJSON, false, framedValues},
		"Gemini's events":          {dialect.FormatGenerate, typeEvents, true, framedEvents},
		"Bedrock's messages":       {dialect.FormatConverse, typeMessages, true, framedMessages},
		"Bedrock's document":       {dialect.FormatInvoke, typeJSON, false, document},
		"no type, asked":           {dialect.FormatChat, "", true, framedEvents},
		"no type, not asked":       {dialect.FormatChat, "", false, document},
		"no type of Bedrock":       {dialect.FormatConverse, "", true, framedMessages},
		"no type of Ollama":        {dialect.FormatOllama, "", true, framedLines},
		"no such format":           {"", typeEvents, true, framedEvents},
		"a type that is malformed": {dialect.FormatChat, "text/event-stream; charset", true, framedEvents},
		"another type":             {dialect.FormatChat, "text/html", true, untyped},
	} {
		op := dialect.Operation{Format: tc.format, Stream: tc.stream}
		m := New(op, http.Header{"Content-Type": {tc.contentType}}, dialect.MeterOptions{}, testClass)
		var got framing
		switch m := m.(type) {
		case *bareMeter:
			if got = framedEvents; m.untyped {
				got = untyped
			}
		case *frameMeter:
			got = framedMessages
		case *lineMeter:
			got = framedLines
		case *valueMeter:
			if got = framedValues; m.whole != (tc.format == dialect.FormatGenerate) {
				t.Errorf("%s: whole %v", name, m.whole)
			}
		}
		if got != tc.want {
			t.Errorf("%s: %T", name, m)
		}
	}
}

// TestTheTableIsSound: what compose and jsonscan need of the lists of members.
func TestTheTableIsSound(t *testing.T) {
	for f, s := range shapes {
		seen := map[string]bool{}
		var last []string
		for _, p := range s.members {
			parts := bytes.Split([]byte(p), []byte("."))
			if len(parts) > 3 {
				t.Errorf("%s: %s is deeper than what is watched", f, p)
			}
			now := []string{}
			for i := range parts {
				prefix := string(bytes.Join(parts[:i+1], []byte(".")))
				now = append(now, prefix)
				// A prefix may only come again if it was that of the member before.
				if seen[prefix] && (i == len(parts)-1 || i >= len(last) || last[i] != prefix) {
					t.Errorf("%s: %s stands apart from its neighbours, or within one", f, p)
				}
				seen[prefix] = true
			}
			last = now
		}
	}
}

// TestMembersMakeADocument: what passed, and nothing else, in the places where it was.
func TestMembersMakeADocument(t *testing.T) {
	paths := []string{"a", "b.c", "b.d", "e.#.f", "e.#.g", "#.a", "#.b.c"}
	for text, want := range map[string]string{
		`{"x":1}`:                             "{}",
		`{"b":{"d":[2],"c":{"x":1}},"a":"1"}`: `{"a":"1","b":{"c":{"x":1},"d":[2]}}`,
		`{"e":[{"f":1,"g":2},{"f":3}]}`:       `{"e":[{"f":3,"g":2}]}`,
		`[{"a":1},{"b":{"c":2,"d":3}}]`:       `[{"a":1,"b":{"c":2}}]`,
		`{"a":1}[{"a":2}]`:                    `{"a":1}`,
		`{"a":1,"b":{"c":"` + string(bytes.Repeat([]byte("x"), 20<<10)) + `"}}`: `{"a":1}`,
	} {
		m := newMembers(paths)
		m.Write([]byte(text))
		if got := string(m.document()); got != want {
			t.Errorf("%.60s: %s, want %s", text, got, want)
		}
	}
}
