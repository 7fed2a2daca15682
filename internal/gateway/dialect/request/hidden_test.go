// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

const hiddenModel = "publishers/anthropic/models/claude-opus-4-5@20251101"

// TestAModelIsReadHoweverItIsWritten: what a provider may read as a call of a model counts by the limits of that model, in
// whatever way the body is written.
func TestAModelIsReadHoweverItIsWritten(t *testing.T) {
	body := func(rest string) string { return `{"messages":[{"role":"user","content":"hi"}],` + rest + `}` }
	named := `"model":"` + hiddenModel + `"`
	deep := func(open, end string) string { return strings.Repeat(open, 900) + "1" + strings.Repeat(end, 900) }
	var escaped strings.Builder
	for _, c := range hiddenModel {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	for name, text := range map[string]string{
		"plain":                      body(named),
		"escaped":                    body(`"model":"` + escaped.String() + `"`),
		"an escaped name":            body(`"\u006dod\u0065l":"` + hiddenModel + `"`),
		"the last of two":            body(`"model":"other",` + named),
		"beside one in another":      body(named + `,"metadata":{"model":"other"}`),
		"behind deep lists":          `{"messages":` + deep("[", "]") + `,` + named + `}`,
		"behind deep objects":        `{"messages":` + deep(`{"content":`, `}`) + `,` + named + `}`,
		"behind deep parts":          `{"messages":[{"content":` + deep(`[{"content":`, `}]`) + `}],` + named + `}`,
		"behind a deep schema":       `{"tools":[{"parameters":` + deep(`{"properties":`, `}`) + `}],` + named + `}`,
		"behind a deep schema list":  `{"tools":[{"parameters":` + deep(`[`, `]`) + `}],` + named + `}`,
		"behind what is not known":   `{"x":` + deep("[", "]") + `,` + named + `}`,
		"behind numbers":             body(`"temperature":NaN,"top_p":-Infinity,` + named),
		"behind half a surrogate":    `{"messages":[{"role":"user","content":"\ud800 \udc00\ud800"}],` + named + `}`,
		"behind a byte order mark":   "\xef\xbb\xbf" + body(named),
		"before an end that is none": body(named) + "}",
		"before a body's end":        body(named)[:len(body(named))-1],
	} {
		r := ReadAs(dialect.Operation{Format: dialect.FormatChat}, "application/json", []byte(text), costs)
		if r.Model != hiddenModel || r.TextBytes < 0 || r.TextBytes > int64(len(text)) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestEveryModelThatABodyNamesIsKnown: which of them a provider takes, only the provider knows.
func TestEveryModelThatABodyNamesIsKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		text   string
		model  string
		others []string
		many   bool
	}{
		"one":                           {`{"model":"a"}`, "a", nil, false},
		"the same twice":                {`{"model":"a","model":"a"}`, "a", nil, false},
		"two":                           {`{"model":"a","model":"b"}`, "b", []string{"a"}, false},
		"two, in escapes":               {`{"model":"\u0061","mod\u0065l":"b"}`, "b", []string{"a"}, false},
		"and no name behind":            {`{"model":"a","model":7,"model":null}`, "a", nil, false},
		"in capital letters":            {`{"MODEL":"a"}`, "a", nil, false},
		"in capital letters, escaped":   {`{"\u004dodel":"a"}`, "a", nil, false},
		"in capital letters beside one": {`{"Model":"a","model":"b"}`, "b", []string{"a"}, false},
		"in capital letters behind one": {`{"model":"b","Model":"a","MODEL":"c"}`, "b", []string{"a", "c"}, false},
		"with a sign for a letter":      {`{"mode\u006c":"b","\u006dODEL":"a"}`, "b", []string{"a"}, false},
		"a list":                        {`{"models":["a","b"]}`, "a", []string{"a", "b"}, false},
		"a list beside one":             {`{"model":"a","Models":["a","b",{"x":1,"model":"c"},7]}`, "a", []string{"a", "b", "c"}, false},
		"what to fall back to":          {`{"fallbacks":["b"],"model":"a"}`, "a", []string{"b"}, false},
		"more than are kept":            {`{"model":"a","models":["b","c","d","e","f"]}`, "a", []string{"b", "c", "d", "e"}, true},
		"no list":                       {`{"model":"a","models":{"b":"c"},"fallbacks":"d"}`, "a", nil, false},
		"deep in a list":                {`{"models":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `,"model":"a"}`, "a", nil, false},
		"none":                          {`{"messages":[]}`, "", nil, false},
		"cut before any":                {`{"messages":[`, "", nil, true},
		"no object":                     {`["model","a"]`, "", nil, true},
		"nothing":                       {"", "", nil, false},
	} {
		r := ReadAs(dialect.Operation{Format: dialect.FormatChat}, "", []byte(tc.text), costs)
		var others [dialect.MaxOthers]string
		copy(others[:], tc.others)
		if r.Model != tc.model || r.Others != others || r.Many != tc.many {
			t.Errorf("%s: %q, others %q, many %t", name, r.Model, r.Others, r.Many)
		}
		inPath := dialect.Operation{Format: dialect.FormatChat, Model: "path"}
		if r = ReadAs(inPath, "", []byte(tc.text), costs); r.Others != [dialect.MaxOthers]string{} || r.Many {
			t.Errorf("%s: with a model in the path, others %q, many %t", name, r.Others, r.Many)
		}
	}
}

// TestNumbersAreReadInWhateverLettersTheyAreNamed, and what else a call costs.
func TestNumbersAreReadInWhateverLettersTheyAreNamed(t *testing.T) {
	chat := ReadAs(dialect.Operation{Format: dialect.FormatChat}, "", []byte(`{"Max_Tokens":5,"MAX_COMPLETION_TOKENS":9,"N":3,"Messages":[{"content":"abc"}],"Stream":true}`), costs)
	if chat.MaxOutputTokens != 9 || chat.Choices != 3 || chat.TextBytes != 3 || chat.Stream {
		t.Errorf("%+v", chat)
	}
	ollama := ReadAs(dialect.Operation{Format: dialect.FormatOllama}, "", []byte(`{"Options":{"NUM_PREDICT":7}}`), costs)
	if ollama.MaxOutputTokens != 7 {
		t.Errorf("%+v", ollama)
	}
}

// TestBodiesInWiderUnitsAreRead as what they stand for, with a mark of their order or without.
func TestBodiesInWiderUnitsAreRead(t *testing.T) {
	text := `{"model":"` + hiddenModel + `","stream":true,"max_tokens":77,"messages":[{"role":"user","content":"grüße 😀"}]}`
	want := ReadAs(dialect.Operation{Format: dialect.FormatChat}, "", []byte(text), costs)
	if want.Model != hiddenModel || !want.Stream || want.MaxOutputTokens != 77 {
		t.Fatalf("%+v", want)
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []string{"", "\ufeff"} {
			var two, four []byte
			for _, u := range utf16.Encode([]rune(mark + text)) {
				two = order.AppendUint16(two, u)
			}
			for _, r := range mark + text {
				four = order.AppendUint32(four, uint32(r))
			}
			for _, body := range [][]byte{two, four} {
				if got := ReadAs(dialect.Operation{Format: dialect.FormatChat}, "", body, costs); got != want {
					t.Errorf("%v %q: %+v, want %+v", order, mark, got, want)
				}
			}
		}
	}
	long := append([]byte("{\x00"), make([]byte, maxWide)...)
	if got := inUTF8(long); !bytes.Equal(got, long) {
		t.Error("a large body was copied")
	}
}

// TestAFormsModelIsReadWhateverStandsAroundIt: before its first field, and beyond the fields that are read.
func TestAFormsModelIsReadWhateverStandsAroundIt(t *testing.T) {
	field := func(name, value string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	model, end := field("model", "whisper-1"), "--b--\r\n"
	for name, body := range map[string]string{
		"plain":              model + end,
		"a line before":      "\r\n" + model + end,
		"words before":       "this is a message in parts\r\n" + model + end,
		"many fields before": strings.Repeat(field("x", "y"), 1000) + model + end,
		"many fields after":  model + strings.Repeat(field("x", "y"), 2*maxFields) + end,
		"no end":             model + field("x", "y"),
		"the last of two":    field("model", "other") + model + end,
		"a space behind":     "--b  \r\nContent-Disposition: form-data; name=model\r\n\r\nwhisper-1\r\n" + end,
	} {
		r := ReadAs(dialect.Operation{}, "multipart/form-data; boundary=b", []byte(body), costs)
		if r.Model != "whisper-1" || r.TextBytes > int64(len(body)) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	two := ReadAs(dialect.Operation{}, "multipart/form-data; boundary=b", []byte(field("model", "other")+model+end), costs)
	if two.Others[0] != "other" {
		t.Errorf("of two fields one is forgotten: %+v", two)
	}
}
