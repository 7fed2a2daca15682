// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonframe

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// splitter is what both framings are.
type splitter interface {
	Write(p []byte, h Handler)
}

type recorder struct {
	values []string
	large  bytes.Buffer
	larges int
}

func (r *recorder) Value(v []byte) { r.values = append(r.values, string(v)) }

func (r *recorder) Large(piece []byte) { r.large.Write(piece) }

func (r *recorder) LargeEnd() {
	r.values = append(r.values, r.large.String())
	r.large.Reset()
	r.larges++
}

func run(s splitter, pieces ...string) []string {
	var r recorder
	for _, p := range pieces {
		s.Write([]byte(p), &r)
	}
	if l, ok := s.(*Lines); ok {
		l.Close(&r)
	}
	return r.values
}

func everyCut(t *testing.T, text string, want []string, fresh func() splitter) {
	t.Helper()
	for cut := range len(text) + 1 {
		if diff := cmp.Diff(want, run(fresh(), text[:cut], text[cut:])); diff != "" {
			t.Fatalf("cut at %d: (-want +got)\n%s", cut, diff)
		}
	}
	if diff := cmp.Diff(want, run(fresh(), strings.Split(text, "")...)); diff != "" {
		t.Fatalf("single bytes: (-want +got)\n%s", diff)
	}
}

func TestLines(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"LF":          {"{}\n{\"a\":1}\n", []string{"{}", "{\"a\":1}"}},
		"CRLF":        {"{}\r\n[]\r\n", []string{"{}", "[]"}},
		"no last end": {"{}\n[]", []string{"{}", "[]"}},
		"blank lines": {"\n\n{}\n \t\r\n[]\n\n", []string{"{}", "[]"}},
		"mark":        {"\xef\xbb\xbf{}\n", []string{"{}"}},
		"sequences":   {"\x1e{}\n\x1e[]\n", []string{"{}", "[]"}},
		"bad line":    {"{\"a\nx\n{}\n", []string{"{\"a", "x", "{}"}},
		"nothing":     {"", nil},
	} {
		t.Run(name, func(t *testing.T) { everyCut(t, tc.text, tc.want, func() splitter { return &Lines{} }) })
	}
}

func TestValues(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		want  []string
		ended bool
	}{
		"array":         {"[{\"a\":[1]}\n,\r\n{\"b\":\"]}\\\"\"}]\n", []string{"{\"a\":[1]}", "{\"b\":\"]}\\\"\"}"}, true},
		"open array":    {"[{\"a\":1},", []string{"{\"a\":1}"}, false},
		"open value":    {"[{\"a\":1},{\"b", []string{"{\"a\":1}"}, false},
		"empty array":   {"[]", nil, true},
		"arrays in it":  {"[[1],[[2]]]", []string{"[1]", "[[2]]"}, true},
		"document":      {"{\"a\":{\"b\":[]}}\n", []string{"{\"a\":{\"b\":[]}}"}, true},
		"open document": {"{\"a\":{\"b\":[]}\n", nil, false},
		"documents":     {"{}\n{\"a\":1}{}", []string{"{}", "{\"a\":1}", "{}"}, true},
		"mark":          {"\xef\xbb\xbf[{}]", []string{"{}"}, true},
		"scalars":       {"[1,\"{\\\"\",null,{}]", []string{"{}"}, true},
		"backslashes":   {"[{\"a\":\"\\\\\"},{\"b\":\"\\\\\\\"}\"}]", []string{"{\"a\":\"\\\\\"}", "{\"b\":\"\\\\\\\"}\"}"}, true},
		"too many ends": {"]}{}]", []string{"{}"}, true},
		"nothing":       {"", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			everyCut(t, tc.text, tc.want, func() splitter { return &Values{} })
			var v Values
			if run(&v, tc.text); v.Ended() != tc.ended {
				t.Errorf("ended %v", v.Ended())
			}
		})
	}
}

// TestLargeValuesAreHandedOn: beyond MaxValue nothing is kept, and nothing of it is lost.
func TestLargeValuesAreHandedOn(t *testing.T) {
	for _, size := range []int{MaxValue - 1, MaxValue, MaxValue + 1, 1 << 20, 5 << 20} {
		value := "{\"a\":\"" + strings.Repeat("x", size-8) + "\"}"
		for name, tc := range map[string]struct {
			s    splitter
			text string
		}{
			"lines":  {&Lines{}, value + "\n{}\n"},
			"values": {&Values{}, "[" + value + ",{}]"},
		} {
			var r recorder
			for rest := tc.text; rest != ""; {
				n := min(len(rest), 10_007)
				tc.s.Write([]byte(rest[:n]), &r)
				rest = rest[n:]
			}
			if len(r.values) != 2 || r.values[0] != value || r.values[1] != "{}" {
				t.Errorf("%s, %d bytes: other values", name, size)
			}
			if large := r.larges == 1; large != (size > MaxValue) {
				t.Errorf("%s, %d bytes: large %v", name, size, large)
			}
		}
	}
}

// TestMemoryIsBounded: what a framing keeps does not grow with what passes.
func TestMemoryIsBounded(t *testing.T) {
	var l Lines
	var v Values
	var r recorder
	v.Write([]byte("[{\""), &r)
	for range 200 {
		l.Write(bytes.Repeat([]byte("x"), 7000), &r)
		v.Write(bytes.Repeat([]byte("x"), 7000), &r)
		r.large.Reset()
	}
	if cap(l.value.kept) > 2*MaxValue || cap(v.value.kept) > 2*MaxValue {
		t.Errorf("keeps %d and %d bytes", cap(l.value.kept), cap(v.value.kept))
	}
}

// FuzzFrames: nothing panics, and the values do not depend on the cut.
func FuzzFrames(f *testing.F) {
	f.Add("[{\"a\":\"\\\"]\"},\n{}]", uint16(9))
	f.Add("{}\r\n\x1e{\"a\":1}", uint16(4))
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		i := int(cut) % (len(text) + 1)
		for _, fresh := range []func() splitter{func() splitter { return &Lines{} }, func() splitter { return &Values{} }} {
			one, two := fresh(), fresh()
			if diff := cmp.Diff(run(one, text), run(two, text[:i], text[i:])); diff != "" {
				t.Errorf("cut at %d: %s", i, diff)
			}
			if v, ok := one.(*Values); ok && v.Ended() != two.(*Values).Ended() {
				t.Errorf("cut at %d: ended differs", i)
			}
		}
	})
}

// BenchmarkValues passes a document of 6 MB of numbers.
func BenchmarkValues(b *testing.B) {
	text := []byte("{\"embedding\":{\"values\":[" + strings.Repeat("-0.0123456,", 1<<19) + "0]}}")
	b.SetBytes(int64(len(text)))
	var r discard
	for b.Loop() {
		var v Values
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 32<<10)
			v.Write(rest[:n], &r)
			rest = rest[n:]
		}
		if !v.Ended() {
			b.Fatal("not ended")
		}
	}
}

type discard struct{}

func (discard) Value([]byte) {}
func (discard) Large([]byte) {}
func (discard) LargeEnd()    {}
