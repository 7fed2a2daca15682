// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// maxStream bounds a fixture that is cut at each of its bytes.
const maxStream = 8 << 10

// metered is everything a meter says of a response.
type metered struct {
	Passed   []byte
	Usage    dialect.Usage
	Failure  dialect.Failure
	Failed   bool
	Complete bool
	Content  bool
	Output   int64
}

// equals is quick, for the many times when nothing differs.
func (m metered) equals(other metered) bool {
	same := bytes.Equal(m.Passed, other.Passed)
	m.Passed, other.Passed = nil, nil
	return same && reflect.DeepEqual(m, other)
}

// meter feeds parts to a new meter, from a buffer that is used again, as a proxy does.
func (f *fixture) meter(op dialect.Operation, strip bool, parts ...[]byte) metered {
	m := f.d.NewMeter(op, f.Response.Header, dialect.MeterOptions{Stream: true, StripUsage: strip})
	var out metered
	for _, part := range parts {
		buffer := bytes.Clone(part)
		out.Passed = append(out.Passed, m.Write(buffer)...)
		for i := range buffer {
			buffer[i] = 'x'
		}
	}
	out.Passed = append(out.Passed, m.Close()...)
	out.Usage, out.Complete, out.Content, out.Output = m.Usage(), m.Complete(), m.ContentSeen(), m.OutputSoFar()
	out.Failure, out.Failed = m.StreamFailure()
	return out
}

// streams calls check for every successful stream of every dialect.
func streams(t *testing.T, check func(t *testing.T, f *fixture, op dialect.Operation)) {
	t.Helper()
	for name, file := range fixtureFiles(t) {
		for _, f := range file {
			if !f.succeeded(t) || !f.isStream(t) {
				continue
			}
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				t.Parallel()
				ops := f.ops(t)
				if len(ops) != 1 {
					t.Fatal("a stream needs its request, which says how to read it")
				}
				check(t, &f, ops[0])
			})
		}
	}
}

// TestB4StreamsCutAnywhere: however a stream is cut, the same bytes pass and the same is found, with and without
// the removal of a usage chunk that was asked for on the client's behalf.
func TestB4StreamsCutAnywhere(t *testing.T) {
	streams(t, func(t *testing.T, f *fixture, op dialect.Operation) {
		t.Helper()
		body := f.Response.Body
		if len(body) > maxStream {
			t.Fatalf("%d bytes, at most %d are cut at each byte", len(body), maxStream)
		}
		for _, strip := range []bool{false, true} {
			want := f.meter(op, strip, body)
			if !strip && !bytes.Equal(want.Passed, body) {
				t.Fatalf("passed\n%q\nof\n%q", want.Passed, body)
			}
			for i := 1; i < len(body); i++ {
				if got := f.meter(op, strip, body[:i], body[i:]); !got.equals(want) {
					t.Fatalf("cut at %d, strip %v (-whole +cut)\n%s", i, strip, gocmp.Diff(want, got))
				}
			}
			single := make([][]byte, len(body))
			for i := range body {
				single[i] = body[i : i+1]
			}
			if got := f.meter(op, strip, single...); !got.equals(want) {
				t.Errorf("byte by byte, strip %v (-whole +cut)\n%s", strip, gocmp.Diff(want, got))
			}
		}
	})
}

// TestB4EveryWayToWriteEvents: line ends, comments, spaces and marks that the format allows change nothing.
func TestB4EveryWayToWriteEvents(t *testing.T) {
	ways := map[string]func(string) string{
		"CRLF":                   func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"CR":                     func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"no space after a colon": func(s string) string { return strings.ReplaceAll("\n"+s, "\ndata: ", "\ndata:")[1:] },
		"a byte order mark":      func(s string) string { return "\ufeff" + s },
		"comments":               func(s string) string { return ": ping\n\n" + strings.ReplaceAll(s, "\n\n", "\n\n: ping\n\n") },
		"data of several lines":  func(s string) string { return strings.ReplaceAll(s, "data: {", "data: {\ndata: ") },
		"no last blank line":     func(s string) string { return strings.TrimRight(s, "\n") },
	}
	streams(t, func(t *testing.T, f *fixture, op dialect.Operation) {
		t.Helper()
		if !isEvents(f) {
			return // frames and lines of JSON have one way each
		}
		want := f.meter(op, false, f.Response.Body)
		for name, change := range ways {
			body := []byte(change(string(f.Response.Body)))
			got := f.meter(op, false, body)
			if !bytes.Equal(got.Passed, body) {
				t.Errorf("%s: passed\n%q\nof\n%q", name, got.Passed, body)
			}
			got.Passed = want.Passed
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-as recorded +changed)\n%s", name, diff)
			}
		}
	})
}

func isEvents(f *fixture) bool {
	return strings.HasPrefix(f.Response.Header.Get("Content-Type"), "text/event-stream")
}

// TestB3LinesOfAnyLength: one long event neither stops a stream nor hides the usage after it.
//
// Fault B3: A scanner's limit of 64 KiB a line cut streams off or lost their usage.
// Headgate: Lines of any length pass with equal bytes and the usage after them is counted: the meter keeps what it
// needs in bounded memory and can neither stop nor change the relay.
func TestB3LinesOfAnyLength(t *testing.T) {
	streams(t, func(t *testing.T, f *fixture, op dialect.Operation) {
		t.Helper()
		want := f.meter(op, false, f.Response.Body)
		for _, size := range []int{65_535, 65_536, 1 << 20, 5 << 20} {
			body, ok := f.padded(size)
			if !ok {
				return
			}
			got := f.meter(op, false, body[:len(body)/2], body[len(body)/2:])
			if !bytes.Equal(got.Passed, body) {
				t.Errorf("%d: other bytes passed", size)
			}
			if got.Usage != want.Usage || got.Complete != want.Complete || got.Failed != want.Failed {
				t.Errorf("%d: %+v, complete %v; without it %+v, complete %v", size, got.Usage, got.Complete, want.Usage, want.Complete)
			}
		}
	})
}

// padded puts an event of a size in front of a stream.
func (f *fixture) padded(size int) ([]byte, bool) {
	pad := `{"headgate_pad":"` + strings.Repeat("x", size-len(`data: {"headgate_pad":""}`)) + `"}`
	kind := f.Response.Header.Get("Content-Type")
	switch body := string(f.Response.Body); {
	case isEvents(f):
		return []byte("data: " + pad + "\n\n" + body), true
	case strings.HasPrefix(kind, "application/x-ndjson"):
		return []byte(pad + "\n" + body), true
	case strings.HasPrefix(body, "["):
		return []byte("[" + pad + "," + body[1:]), true
	}
	return nil, false
}
