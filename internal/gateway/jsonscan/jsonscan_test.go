// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// walk reads everything a scanner can read, as the callers do.
func walk(s *Scanner) (strings []string) {
	switch s.Kind() {
	case '{':
		s.Enter('{')
		for first := true; ; {
			key, more := s.Key(&first)
			if !more {
				return strings
			}
			strings = append(strings, key.Value())
			strings = append(strings, walk(s)...)
		}
	case '[':
		s.Enter('[')
		for first := true; s.Elem(&first); {
			strings = append(strings, walk(s)...)
		}
	case '"':
		if text, ok := s.Text(); ok {
			strings = append(strings, text.Value())
		}
	default:
		s.Skip()
	}
	return strings
}

// flatten is the same by the standard library.
func flatten(t *testing.T, text []byte) (strings []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return strings
		}
		if s, ok := token.(string); ok {
			strings = append(strings, s)
		}
	}
}

// FuzzScanner: on valid JSON a scanner finds the strings the standard library finds; on any other it ends.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e3,true,null,{"b":"c\\\"d"}],"é\u00e9\ud83d\ude00":"\n"}`, `[]`, `{"a":}`, `{"a" 1}`, `"`, `{"\`, `[[[`,
		`{"a":"\ud83d"}`, `{"a":"\ud83d\u0041"}`, "\xef\xbb\xbf{}", `{"a":1,}`, `]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := New(text)
		got := walk(&s)
		if !json.Valid(text) || bytes.Count(text, []byte{'['})+bytes.Count(text, []byte{'{'}) > maxDepth || invalidUTF8(text) {
			return
		}
		if want := flatten(t, text); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("got %q, want %q", got, want)
		}
		if s.Err() || !s.AtEnd() {
			t.Errorf("valid JSON, but err %v at %d of %d", s.Err(), s.Pos(), len(text))
		}
	})
}

func invalidUTF8(text []byte) bool { return !bytes.Equal(bytes.ToValidUTF8(text, nil), text) }

// TestLenIsTheLengthOfTheText: escapes do not lengthen what they stand for.
func TestLenIsTheLengthOfTheText(t *testing.T) {
	for _, text := range []string{``, `abc`, `a\nb`, `\u4f60\u597d`, `\ud83d\ude00`, `\\\"`, "é", `\/`, `tail\n`} {
		s := String{Raw: []byte(text)}
		if got, want := s.Len(), len(s.Value()); got != want {
			t.Errorf("%s: Len %d, Value has %d", text, got, want)
		}
		var want string
		if err := json.Unmarshal([]byte(`"`+text+`"`), &want); err != nil || s.Value() != want {
			t.Errorf("%s: %q, want %q (%v)", text, s.Value(), want, err)
		}
	}
}

// TestIntNeverOverflows: what does not fit saturates, what is no integer is none.
func TestIntNeverOverflows(t *testing.T) {
	cases := map[string]struct {
		want int64
		ok   bool
	}{
		"0": {0, true}, "-7": {-7, true}, "4096": {4096, true}, "99999999999999999999999": {1 << 53, true},
		"1.5": {0, false}, "1e9": {1e9, true}, "4.096E+3": {4096, true}, "-2.0": {-2, true}, "1e400": {1 << 53, true}, "-1e400": {-1 << 53, true},
		"0x10": {0, false}, "1e": {0, false}, "1_000": {0, false}, "1.00000000000000000000000000000000": {0, false}, "-": {0, false}, "NaN": {0, false}, `"5"`: {0, false}, "null": {0, false}, "[1]": {0, false},
	}
	for text, tc := range cases {
		s := New([]byte(text))
		if got, ok := s.Int(); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %d %v, want %d %v", text, got, ok, tc.want, tc.ok)
		}
		if !s.AtEnd() {
			t.Errorf("%s: not passed", text)
		}
	}
}

// TestAQuotedIntIsReadAsItsText: however the digits are written.
func TestAQuotedIntIsReadAsItsText(t *testing.T) {
	cases := map[string]struct {
		want int64
		ok   bool
	}{
		`"77"`: {77, true}, `"7\u0037"`: {77, true}, `"\u002d5"`: {-5, true}, `"1\u00653"`: {1000, true}, `""`: {0, false}, `"7\n"`: {0, false},
		`"\"7"`: {0, false}, `"x"`: {0, false}, "77": {0, false}, "null": {0, false},
	}
	for text, tc := range cases {
		s := New([]byte(text))
		if got, ok := s.QuotedInt(); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %d %v, want %d %v", text, got, ok, tc.want, tc.ok)
		}
		if !s.AtEnd() {
			t.Errorf("%s: not passed", text)
		}
	}
}

// TestDeepNestingEnds: no body makes a walk deep, and skipping needs no depth.
func TestDeepNestingEnds(t *testing.T) {
	deep := []byte(strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20))
	s := New(deep)
	if walk(&s); !s.Err() {
		t.Error("walked a million levels")
	}
	s = New(deep)
	if !s.Skip() || !s.AtEnd() {
		t.Error("could not skip a million levels")
	}
}

// TestStreamKeepsValues: the values at the wanted paths, wherever they are and however the text is cut.
func TestStreamKeepsValues(t *testing.T) {
	cases := map[string]struct{ text, usage, inner string }{
		"first":           {`{"usage":{"a":1},"x":[1,2]}`, `{"a":1}`, ""},
		"last":            {`{"x":[{"usage":1}],"usage": {"a":[1,{"b":"}"}]} }`, `{"a":[1,{"b":"}"}]}`, ""},
		"inner":           {`{"response":{"usage":{"b":2}},"usage":null}`, `null`, `{"b":2}`},
		"too deep":        {`{"x":{"response":{"usage":1}}}`, "", ""},
		"in a list":       {`{"response":[{"usage":1}]}`, "", ""},
		"in a string":     {`{"x":"\"usage\":1, \\","usage":2}`, `2`, ""},
		"as a value":      {`{"x":"usage","y":1}`, "", ""},
		"longer name":     {`{"usages":1,"usag":2,"response.usage":3}`, "", ""},
		"twice":           {`{"usage":1,"usage":"two"}`, `"two"`, ""},
		"sibling objects": {`{"response":{},"other":{"usage":1}}`, "", ""},
		"very long name":  {`{"` + strings.Repeat("n", 100) + `usage":1,"usage":3}`, `3`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for cut := range len(tc.text) + 1 {
				s := NewStream("usage", "response.usage")
				s.Write([]byte(tc.text[:cut]))
				s.Write([]byte(tc.text[cut:]))
				if got := string(s.Value(0)); got != tc.usage {
					t.Fatalf("cut at %d: usage %q, want %q", cut, got, tc.usage)
				}
				if got := string(s.Value(1)); got != tc.inner {
					t.Fatalf("cut at %d: response.usage %q, want %q", cut, got, tc.inner)
				}
				if !s.Complete() {
					t.Fatalf("cut at %d: not complete", cut)
				}
			}
			s := NewStream("usage")
			for i := range len(tc.text) - 1 {
				s.Write([]byte(tc.text[i : i+1]))
				if s.Complete() {
					t.Fatalf("complete after %d of %d bytes", i+1, len(tc.text))
				}
			}
		})
	}
}

// TestStreamLooksIntoArrays: # stands for each element; the last one's value is kept.
func TestStreamLooksIntoArrays(t *testing.T) {
	cases := map[string]struct{ text, reason, wrapped string }{
		"one":           {`{"choices":[{"finish_reason":"stop"}]}`, `"stop"`, ""},
		"two":           {`{"choices":[{"finish_reason":null,"x":[1,{"finish_reason":2}]},{"finish_reason":"stop"}],"y":1}`, `"stop"`, ""},
		"no array":      {`{"choices":{"finish_reason":1}}`, "", ""},
		"too deep":      {`{"choices":[[{"finish_reason":1}]]}`, "", ""},
		"wrapped":       {`[1,"x",{"usage":{"a":1}},{"y":2}]`, "", `{"a":1}`},
		"a member #":    {`{"#":{"usage":1}}`, "", ""},
		"after strings": {`[["a,\"{",":"],{"usage":5}]`, "", "5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for cut := range len(tc.text) + 1 {
				s := NewStream("choices.#.finish_reason", "#.usage")
				s.Write([]byte(tc.text[:cut]))
				s.Write([]byte(tc.text[cut:]))
				if string(s.Value(0)) != tc.reason || string(s.Value(1)) != tc.wrapped || !s.Complete() {
					t.Fatalf("cut at %d: %q, %q", cut, s.Value(0), s.Value(1))
				}
			}
		})
	}
}

// FuzzStream: cuts change nothing, nothing panics, and what is kept is bounded.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"response":{"usage":{"b":"\\\""}},"usage":[1]}`), uint16(20))
	f.Add([]byte(`}}]{"usage":"`), uint16(3))
	f.Add([]byte(`{"choices":[{"finish_reason":"a"}]}`), uint16(30))
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		i := int(cut) % (len(text) + 1)
		paths := []string{"usage", "response.usage", "choices.#.finish_reason"}
		one, two := NewStream(paths...), NewStream(paths...)
		one.Write(text)
		two.Write(text[:i])
		two.Write(text[i:])
		for n := range paths {
			if !bytes.Equal(one.Value(n), two.Value(n)) || len(one.Value(n)) > maxCapture {
				t.Errorf("value %d: %q and %q", n, one.Value(n), two.Value(n))
			}
		}
		if one.Complete() != two.Complete() {
			t.Error("complete differs")
		}
	})
}

// BenchmarkStreamEmbeddings passes a document of 6 MB of numbers.
func BenchmarkStreamEmbeddings(b *testing.B) {
	text := []byte(`{"data":[{"embedding":[` + strings.Repeat("-0.0123456,", 1<<19) + `0]}],"usage":{"prompt_tokens":5}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := NewStream("usage")
		s.Write(text)
		if s.Value(0) == nil {
			b.Fatal("no usage")
		}
	}
}
