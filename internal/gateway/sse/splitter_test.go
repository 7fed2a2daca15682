// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sse

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is what a handler was told.
type seen struct {
	Name, Data string
	Start, End int64
	Large      bool
}

type recorder struct {
	events []seen
	large  bytes.Buffer
}

func (r *recorder) Event(e Event) {
	r.events = append(r.events, seen{string(e.Name), string(e.Data), e.Start, e.End, false})
}

func (r *recorder) Large(piece []byte) { r.large.Write(piece) }

func (r *recorder) LargeEnd(e Event) {
	r.events = append(r.events, seen{string(e.Name), r.large.String(), e.Start, e.End, true})
	r.large.Reset()
}

func split(pieces ...string) []seen {
	var s Splitter
	var r recorder
	for _, p := range pieces {
		s.Write([]byte(p), &r)
	}
	s.Close(&r)
	return r.events
}

// TestEveryFormOfTheStandard pins how each form is read, with the offsets of what is cut out.
func TestEveryFormOfTheStandard(t *testing.T) {
	cases := map[string]struct {
		text string
		want []seen
	}{
		"LF":            {"data: a\n\n", []seen{{Data: "a", End: 9}}},
		"CRLF":          {"data: a\r\n\r\n", []seen{{Data: "a", End: 11}}},
		"CR":            {"data: a\r\rdata: b\r\r", []seen{{Data: "a", End: 9}, {Data: "b", Start: 9, End: 18}}},
		"mixed":         {"data: a\r\n\ndata: b\n\r", []seen{{Data: "a", End: 10}, {Data: "b", Start: 10, End: 19}}},
		"no space":      {"data:{}\n\n", []seen{{Data: "{}", End: 9}}},
		"two spaces":    {"data:  a\n\n", []seen{{Data: " a", End: 10}}},
		"several lines": {"data: a\ndata\ndata:b\n\n", []seen{{Data: "a\n\nb", End: 21}}},
		"named":         {"event: error\ndata: a\n\n", []seen{{Name: "error", Data: "a", End: 22}}},
		"name after":    {"data: a\nevent: x\n\n", []seen{{Name: "x", Data: "a", End: 18}}},
		"name is reset": {"event: x\n\ndata: a\n\n", []seen{{Data: "a", Start: 10, End: 19}}},
		"comment":       {": ping\n\ndata: a\n\n", []seen{{Data: "a", Start: 8, End: 17}}},
		"comment on it": {": ping\ndata: a\n: ping\n\n", []seen{{Data: "a", Start: 7, End: 23}}},
		"other fields":  {"id: 7\nretry: 10\nfoo\ndata: a\n\n", []seen{{Data: "a", End: 29}}},
		"mark":          {"\xef\xbb\xbfdata: a\n\n", []seen{{Data: "a", Start: 3, End: 12}}},
		"mark later":    {"data: a\n\n\xef\xbb\xbfdata: b\n\n", []seen{{Data: "a", End: 9}}},
		"no blank line": {"data: a\n\ndata: b", []seen{{Data: "a", End: 9}, {Data: "b", Start: 9, End: 16}}},
		"empty data":    {"data\n\n", []seen{{End: 6}}},
		"blank lines":   {"\n\n\ndata: a\n\n\n", []seen{{Data: "a", Start: 3, End: 12}}},
		"nothing":       {"", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, split(tc.text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for cut := range len(tc.text) + 1 {
				if diff := cmp.Diff(data(tc.want), data(split(tc.text[:cut], tc.text[cut:]))); diff != "" {
					t.Errorf("cut at %d: (-want +got)\n%s", cut, diff)
				}
			}
		})
	}
}

// data leaves the offsets out: a cut inside CRLF moves an event's end by one.
func data(events []seen) (out []string) {
	for _, e := range events {
		out = append(out, e.Name+"|"+e.Data)
	}
	return out
}

// TestLargeEventsAreHandedOn: beyond MaxEvent data is not kept, and nothing of it is lost.
func TestLargeEventsAreHandedOn(t *testing.T) {
	long := strings.Repeat("0123456789", MaxEvent/8)
	texts := map[string]struct{ text, want string }{
		"one line":      {"data: " + long + "\n\n", long},
		"second line":   {"data: a\ndata:" + long + "\ndata: b\n\n", "a\n" + long + "\nb"},
		"mark":          {"\xef\xbb\xbfdata: " + long + "\n\n", long},
		"no blank line": {"data: " + long, long + "\nnext"},
		"comment":       {":" + long + "\ndata: a\n\n", "a"},
		"long field":    {"x" + long + ": 1\ndata: a\n\n", "a"},
		"long name":     {"event: " + long + "\ndata: a\n\n", "a"},
	}
	for name, tc := range texts {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{3, 1000, 4096, len(tc.text)} {
				var pieces []string
				for rest := tc.text; rest != ""; {
					n := min(step, len(rest))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				got := split(append(pieces, "\ndata: next\n\n")...)
				if len(got) == 0 || got[0].Data != tc.want {
					t.Fatalf("step %d: other data", step)
				}
				if last := got[len(got)-1]; name != "no blank line" && last.Data != "next" {
					t.Errorf("step %d: the event behind it is %+v", step, last)
				}
			}
		})
	}
}

// TestBoundsDoNotDependOnTheCut: at each bound, and one byte beside it, an event is the same in one piece and in two.
func TestBoundsDoNotDependOnTheCut(t *testing.T) {
	ends := []string{"", "\n\n", "\r\n\r\n", "\ndata: b\n\n", "\nevent: z\n\n"}
	for _, begin := range []string{
		"data:", "data: ", "\xef\xbb\xbfdata: ", "data: a\ndata:", "data: a\nevent: ", "data: a\nid:", "data: a\n:", "event:", "id:", ":", "x", "\xef\xbb\xbf",
	} {
		for _, bound := range []int{maxName, maxBeside, MaxEvent} {
			for length := bound - 12; length <= bound+2; length++ {
				text := begin + strings.Repeat("y", length) + ends[length%len(ends)]
				want := withoutEnds(split(text))
				for _, cut := range []int{1, 2, 4, 8, 9, 10, 16, len(begin) + bound/2, len(begin) + length - 1, len(begin) + length, len(text) - 1} {
					if got := withoutEnds(split(text[:cut], text[cut:])); !slices.Equal(got, want) {
						t.Errorf("%q and %d bytes, cut at %d: another event", begin, length, cut)
					}
				}
			}
		}
	}
}

// withoutEnds leaves out where events end.
func withoutEnds(events []seen) []seen {
	for i := range events {
		events[i].End = 0
	}
	return events
}

// TestMemoryIsBounded: what a splitter keeps does not grow with what passes.
func TestMemoryIsBounded(t *testing.T) {
	for name, piece := range map[string]string{
		"a line without end": strings.Repeat("data: x", 1000),
		"lines without end":  strings.Repeat("data: x\n", 1000),
		"names":              strings.Repeat("event: "+strings.Repeat("y", 1000)+"\n", 10),
	} {
		t.Run(name, func(t *testing.T) {
			var s Splitter
			var r recorder
			for range 200 {
				s.Write([]byte(piece), &r)
				r.large.Reset()
			}
			if kept := cap(s.line) + cap(s.owned) + cap(s.name); kept > 4*MaxEvent {
				t.Errorf("keeps %d bytes", kept)
			}
		})
	}
}

// FuzzCuts: events do not depend on where a stream is cut.
func FuzzCuts(f *testing.F) {
	f.Add("event: a\r\ndata: {\"x\":1}\r\n\r\ndata:b\r\rdata: c", uint16(9))
	f.Add("\xef\xbb\xbfdata\n\n: c\ndata: d\n\n", uint16(2))
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		i := int(cut) % (len(text) + 1)
		if diff := cmp.Diff(data(split(text)), data(split(text[:i], text[i:]))); diff != "" {
			t.Errorf("cut at %d: %s", i, diff)
		}
	})
}

// BenchmarkSplit is the cost of finding a delta in a stream.
func BenchmarkSplit(b *testing.B) {
	event := []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n")
	var s Splitter
	h := &counter{}
	b.ReportAllocs()
	for b.Loop() {
		s.Write(event, h)
	}
	if h.n == 0 {
		b.Fatal("no events")
	}
}

type counter struct{ n int }

func (c *counter) Event(Event)    { c.n++ }
func (c *counter) Large([]byte)   {}
func (c *counter) LargeEnd(Event) {}
