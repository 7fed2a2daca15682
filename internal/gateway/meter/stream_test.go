// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func event() http.Header {
	return http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}
}

func testClass(document []byte) dialect.Failure {
	if bytes.Contains(document, []byte("overloaded")) {
		return dialect.Failure{Class: dialect.ClassOverload}
	}
	return dialect.Failure{Class: dialect.ClassTransient}
}

func streamMeter(operation string, strip bool) dialect.Meter {
	return New(dialect.Operation{Name: operation, Format: dialect.Format(operation), Metered: true}, event(), dialect.MeterOptions{Stream: true, StripUsage: strip}, testClass)
}

// outcome is all a meter says.
type outcome struct {
	Usage             dialect.Usage
	Content, Complete bool
	Failed            bool
	Output            int64
	Deltas            int64
}

func outcomeOf(m dialect.Meter) outcome {
	if b, ok := m.(*bareMeter); ok {
		m = b.Meter
	}
	_, failed := m.StreamFailure()
	return outcome{
		Usage: m.Usage(), Content: m.ContentSeen(), Complete: m.Complete(), Failed: failed, Output: m.OutputSoFar(),
		Deltas: m.(interface{ counted() int64 }).counted(),
	}
}

// relay passes pieces through a meter as the proxy does.
func relay(m dialect.Meter, pieces ...[]byte) []byte {
	var out []byte
	for _, p := range pieces {
		out = append(out, m.Write(p)...)
	}
	return append(out, m.Close()...)
}

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

var recorded = map[string]struct {
	operation, file, stripped string
	want                      outcome
}{
	"chat": {"chat", "chat.sse", "chat.stripped.sse", outcome{
		Usage:   dialect.Usage{Input: 19, Output: 7, CachedRead: 8, CacheWrite: -1, Reasoning: 3},
		Content: true, Complete: true, Output: 7, Deltas: 4,
	}},
	"responses": {"responses", "responses.sse", "responses.sse", outcome{
		Usage:   dialect.Usage{Input: 10000, Output: 5, CachedRead: 8000, CacheWrite: -1, Reasoning: 0},
		Content: true, Complete: true, Output: 5, Deltas: 2,
	}},
	"messages": {"messages", "messages.sse", "messages.sse", outcome{
		Usage:   dialect.Usage{Input: 317, Output: 64, CachedRead: 0, CacheWrite: 4425, Reasoning: -1, CacheOutside: true},
		Content: true, Complete: true, Output: 64, Deltas: 2,
	}},
	"messages with late input": {"messages", "messages-late-input.sse", "messages-late-input.sse", outcome{
		Usage:   dialect.Usage{Input: 18, Output: 8831, CachedRead: -1, CacheWrite: -1, Reasoning: -1, CacheOutside: true},
		Content: true, Complete: true, Output: 8831, Deltas: 1,
	}},
}

// spellings are the forms in which the standard lets the same stream be written.
var spellings = map[string]func(string) string{
	"LF":          func(s string) string { return s },
	"CRLF":        func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"CR":          func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
	"no space":    func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") },
	"mark":        func(s string) string { return "\xef\xbb\xbf" + s },
	"comments":    func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n\n: ping\n\n") },
	"last line":   func(s string) string { return strings.TrimRight(s, "\n") },
	"many lines":  func(s string) string { return strings.ReplaceAll(s, `,"`, ",\ndata: \"") },
	"more blanks": func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n\n\n\n") },
}

// everyCut are the forms whose cuts matter at every offset; the others are cut at every fifth.
var everyCut = map[string]bool{"LF": true, "CRLF": true, "CR": true}

// TestB4EveryCutGivesTheSame cuts each recorded stream in each form, and into single bytes: usage and bytes
// are the same as in one piece, with and without the injected chunk being stripped.
//
// Fault B4: Streams that were cut in the middle of a line, or used CR, comments or several data lines, were read
// differently or not at all.
// Headgate: A stream cut at any byte, with any line ends the standard allows, gives the same bytes and the same usage.
func TestB4EveryCutGivesTheSame(t *testing.T) {
	for name, tc := range recorded {
		for shape, form := range spellings {
			t.Run(name+"/"+shape, func(t *testing.T) {
				text := []byte(form(string(read(t, tc.file))))
				stripped := []byte(form(string(read(t, tc.stripped))))
				step := 5
				if everyCut[shape] {
					step = 1
				}
				for _, strip := range []bool{false, true} {
					want := text
					if strip {
						want = stripped
					}
					if strip && tc.file == tc.stripped {
						continue // nothing is injected into these
					}
					check := func(pieces ...[]byte) {
						t.Helper()
						m := streamMeter(tc.operation, strip)
						got := relay(m, pieces...)
						if !bytes.Equal(got, wantShape(shape, strip, want)) {
							t.Fatalf("strip %v: other bytes after a cut at %d:\n%q\nwant\n%q", strip, len(pieces[0]), got, want)
						}
						if diff := cmp.Diff(tc.want, outcomeOf(m)); diff != "" {
							t.Fatalf("strip %v, cut at %d: (-want +got)\n%s", strip, len(pieces[0]), diff)
						}
					}
					for cut := 0; cut <= len(text); cut += step {
						check(bytes.Clone(text[:cut]), bytes.Clone(text[cut:]))
					}
					check(singles(text)...)
				}
			})
		}
	}
}

// wantShape is the stripped stream. What surrounds the chunk that is stripped stays.
func wantShape(shape string, strip bool, want []byte) []byte {
	if !strip {
		return want
	}
	switch shape {
	case "comments":
		return bytes.Replace(want, []byte("data: [DONE]"), []byte(": ping\n\ndata: [DONE]"), 1)
	case "more blanks":
		return bytes.Replace(want, []byte("data: [DONE]"), []byte("\n\ndata: [DONE]"), 1)
	}
	return want
}

func singles(text []byte) (pieces [][]byte) {
	for i := range text {
		pieces = append(pieces, []byte{text[i]})
	}
	return pieces
}

// TestB4RandomCuts is the same with several cuts at random.
func TestB4RandomCuts(t *testing.T) {
	text, want := read(t, "chat.sse"), read(t, "chat.stripped.sse")
	rapid.Check(t, func(t *rapid.T) {
		m := streamMeter("chat", true)
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(0, min(len(rest), 300)).Draw(t, "n")
			pieces, rest = append(pieces, bytes.Clone(rest[:n])), rest[n:]
			if n == 0 {
				pieces, rest = append(pieces, bytes.Clone(rest[:1])), rest[1:]
			}
		}
		if got := relay(m, pieces...); !bytes.Equal(got, want) {
			t.Fatalf("got %q", got)
		}
		if got := m.Usage().Output; got != 7 {
			t.Fatalf("output %d, want 7", got)
		}
	})
}

// TestB6HoldsBackNothingElse: as soon as an event can no longer be the injected chunk its bytes have gone.
func TestB6HoldsBackNothingElse(t *testing.T) {
	m := streamMeter("chat", true)
	head := `data: {"id":"c","choices":[`
	if got := m.Write([]byte(head)); len(got) != 0 {
		t.Fatalf("passed %q, which may be the chunk", got)
	}
	if got := string(m.Write([]byte("{"))); got != head+"{" {
		t.Fatalf("passed %q after it was clear", got)
	}
	if got := string(m.Write([]byte(`"delta":`))); got != `"delta":` {
		t.Fatalf("held back %q", got)
	}
	for _, text := range []string{": comm", "event: x", "event: messages", "data: [DONE", "retry: 1", "ident: 1", "data: x"} {
		m := streamMeter("chat", true)
		if got := string(m.Write([]byte(text))); got != text {
			t.Errorf("%q: passed only %q", text, got)
		}
	}
}

// TestB6OnlyTheInjectedChunkGoes: chunks without choices that carry something else, and usage in a chunk
// with choices, are the client's.
func TestB6OnlyTheInjectedChunkGoes(t *testing.T) {
	for name, event := range map[string]string{
		"prompt filter":      `{"choices":[],"prompt_filter_results":[]}`,
		"null usage":         `{"choices":[],"usage":null}`,
		"usage with choices": `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		"error":              `{"error":{"message":"overloaded"}}`,
		"other choices":      `{"choices":"none","usage":{"prompt_tokens":1}}`,
		"no object":          `[]`,
		"not JSON":           `{"choices":`,
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte("data: " + event + "\n\n")
			if got := relay(streamMeter("chat", true), singles(text)...); !bytes.Equal(got, text) {
				t.Errorf("got %q, want %q", got, text)
			}
		})
	}
}

// TestB6TheInjectedChunkIsKnownHoweverItIsWritten: clients that expect a choice in every chunk fail on each of these.
func TestB6TheInjectedChunkIsKnownHoweverItIsWritten(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":5,"completion_tokens":6}`
	const kept = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n"
	for name, chunk := range map[string]string{
		"no choices":     "data: {" + usage + "}\n\n",
		"null choices":   "data: {\"choices\":null," + usage + "}\n\n",
		"usage first":    "data: {" + usage + ",\"choices\" : [ ]}\n\n",
		"an id":          "id: 7\ndata: {\"choices\":[]," + usage + "}\n\n",
		"an id behind":   "data: {\"choices\":[]," + usage + "}\nid:7\n\n",
		"default name":   "event: message\ndata: {\"choices\":[]," + usage + "}\n\n",
		"name and id":    "id:7\r\nevent:message\r\ndata:{\"choices\":[]," + usage + "}\r\n\r\n",
		"several lines":  "data: {\"choices\":[],\ndata: " + usage + "}\n\n",
		"space and tabs": "data:  {\t\"choices\" :\tnull , " + usage + " }\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(kept + chunk + "data: [DONE]\n\n")
			for cut := range len(text) + 1 {
				m := streamMeter("chat", true)
				if got := string(relay(m, bytes.Clone(text[:cut]), bytes.Clone(text[cut:]))); got != kept+"data: [DONE]\n\n" || m.Usage().Output != 6 {
					t.Fatalf("cut at %d: %q, usage %+v", cut, got, m.Usage())
				}
			}
			m := streamMeter("chat", true)
			if got := string(relay(m, singles(text)...)); got != kept+"data: [DONE]\n\n" {
				t.Errorf("byte by byte: %q", got)
			}
			m = streamMeter("chat", false)
			if got := relay(m, singles(text)...); !bytes.Equal(got, text) {
				t.Errorf("a client that asked gets %q", got)
			}
		})
	}
}

// TestB6WhatIsMoreThanUsageIsKept: a chunk without choices that says something else too is not the injected one.
func TestB6WhatIsMoreThanUsageIsKept(t *testing.T) {
	for _, chunk := range []string{
		`{"citations":["x"],"usage":{"prompt_tokens":5,"completion_tokens":6}}`,
		`{"id":"c","choices":null,"usage":{"prompt_tokens":5,"completion_tokens":6},"search_results":[{"title":"t"}]}`,
	} {
		text := []byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: " + chunk + "\n\ndata: [DONE]\n\n")
		for cut := range len(text) + 1 {
			m := streamMeter("chat", true)
			if got := relay(m, bytes.Clone(text[:cut]), bytes.Clone(text[cut:])); !bytes.Equal(got, text) || m.Usage().Output != 6 {
				t.Fatalf("cut at %d: %q, usage %+v", cut, got, m.Usage())
			}
		}
	}
}

// TestB6TheLastChunkMayLackItsBlankLine: a stream that ends behind the injected chunk.
func TestB6TheLastChunkMayLackItsBlankLine(t *testing.T) {
	const kept = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n"
	text := []byte(kept + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}")
	for cut := range len(text) + 1 {
		m := streamMeter("chat", true)
		if got := string(relay(m, text[:cut], text[cut:])); got != kept || m.Usage().Output != 6 {
			t.Errorf("cut at %d: %q, usage %+v", cut, got, m.Usage())
		}
	}
}

// TestB3LongLines: however long a line is, every byte passes and the usage behind it is found.
func TestB3LongLines(t *testing.T) {
	usage := `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}` + "\n\n"
	for _, size := range []int{65_535, 65_536, 1 << 20, 5 << 20} {
		for _, strip := range []bool{false, true} {
			t.Run(fmt.Sprint(size, strip), func(t *testing.T) {
				long := `data: {"choices":[{"delta":{"content":"`
				long += strings.Repeat("x", size-len(long)-len(`"}}]}`)) + `"}}]}` + "\n\n"
				want := long
				if !strip {
					want += usage
				}
				m := streamMeter("chat", strip)
				h := sha256.New()
				for rest := []byte(long + usage); len(rest) > 0; {
					n := min(len(rest), 32<<10)
					h.Write(m.Write(rest[:n]))
					rest = rest[n:]
				}
				h.Write(m.Close())
				if got := [32]byte(h.Sum(nil)); got != sha256.Sum256([]byte(want)) {
					t.Error("the bytes have changed")
				}
				if u := m.Usage(); u.Input != 5 || u.Output != 6 {
					t.Errorf("usage %+v", u)
				}
			})
		}
	}
}

// TestB3UsageInsideALongEvent: the last event of a responses stream repeats the whole response.
func TestB3UsageInsideALongEvent(t *testing.T) {
	text := "event: response.completed\ndata: " + `{"type":"response.completed","response":{"output":[{"text":"` +
		strings.Repeat(`\"usage\":{} `, 1<<17) + `"}],"usage":{"input_tokens":7,"output_tokens":9}}}` + "\n\n"
	m := streamMeter("responses", false)
	got := sha256.New()
	for rest := []byte(text); len(rest) > 0; {
		n := min(len(rest), 4096)
		got.Write(m.Write(rest[:n]))
		rest = rest[n:]
	}
	m.Close()
	if u := m.Usage(); u.Input != 7 || u.Output != 9 || !m.Complete() {
		t.Errorf("usage %+v, complete %v", u, m.Complete())
	}
	if [32]byte(got.Sum(nil)) != sha256.Sum256([]byte(text)) {
		t.Error("the bytes have changed")
	}
}
