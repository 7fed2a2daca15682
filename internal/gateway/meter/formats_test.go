// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// recordings are recorded shapes of each format and framing, and what they report.
var recordings = map[string]struct {
	format dialect.Format
	want   outcome
}{
	"generate.sse":           {dialect.FormatGenerate, ended(2078, 40, 1536, -1, 21, false, 4)},
	"generate.json":          {dialect.FormatGenerate, ended(2078, 40, 1536, -1, 21, false, 4)},
	"converse.events":        {dialect.FormatConverse, ended(47, 20, 1024, 512, -1, true, 3)},
	"invoke-messages.events": {dialect.FormatInvoke, ended(7, 126, 14486, 2238, -1, true, 2)},
	"invoke-llama.events":    {dialect.FormatInvoke, ended(25, 5, -1, -1, -1, true, 2)},
	"invoke-nova.events":     {dialect.FormatInvoke, ended(9, 6, 0, 0, -1, true, 2)},
	"invoke-mistral.events":  {dialect.FormatInvoke, ended(11, 6, -1, -1, -1, true, 2)},
	"invoke-titan.events":    {dialect.FormatInvoke, ended(8, 6, -1, -1, -1, true, 2)},
	"cohere.sse":             {dialect.FormatCohere, ended(215, 14, 192, -1, -1, false, 2)},
	"cohere-v1.ndjson":       {dialect.FormatCohere, ended(71, 6, -1, -1, -1, false, 2)},
	"ollama.ndjson":          {dialect.FormatOllama, ended(26, 282, -1, -1, -1, false, 4)},
	"tgi.sse":                {dialect.FormatTGI, ended(17, 4, -1, -1, -1, false, 4)},
	"chat.sse":               {dialect.FormatChat, ended(19, 7, 8, -1, 3, false, 4)},
	"responses.sse":          {dialect.FormatResponses, ended(10000, 5, 8000, -1, 0, false, 2)},
	"messages.sse":           {dialect.FormatMessages, ended(317, 64, 0, 4425, -1, true, 2)},
	"groq.sse":               {dialect.FormatChat, ended(41, 5, 32, -1, -1, false, 2)},
	"mistral.sse":            {dialect.FormatChat, ended(801, 5, 768, -1, -1, false, 2)},
	"perplexity.sse":         {dialect.FormatChat, ended(9, 4, -1, -1, -1, false, 2)},
	"deepseek.sse":           {dialect.FormatChat, ended(120, 9, 64, -1, 5, false, 2)},
	"xai.sse":                {dialect.FormatChat, ended(32, 103, 6, -1, 94, false, 2)},
}

func ended(input, output, read, write, reasoning int64, outside bool, deltas int64) outcome {
	return outcome{
		Usage:   dialect.Usage{Input: input, Output: output, CachedRead: read, CacheWrite: write, Reasoning: reasoning, CacheOutside: outside},
		Content: true, Complete: true, Output: output, Deltas: deltas,
	}
}

// lineForms are the forms in which the same lines may be written, jsonForms those of an array.
var (
	lineForms = map[string]func(string) string{
		"LF": func(s string) string { return s }, "CRLF": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"mark": func(s string) string { return "\xef\xbb\xbf" + s }, "last line": func(s string) string { return strings.TrimRight(s, "\n") },
		"more blanks": func(s string) string { return strings.ReplaceAll(s, "\n", "\n\n\n") },
		"sequences":   func(s string) string { return "\x1e" + s },
	}
	jsonForms = map[string]func(string) string{
		"as sent": func(s string) string { return s }, "CRLF": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"one line": func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\n", ""), "\r", "") },
		"mark":     func(s string) string { return "\xef\xbb\xbf" + s },
	}
	frameForms = map[string]func(string) string{"as sent": func(s string) string { return s }}
)

// formsOf are the forms in which a recorded stream may be written.
func formsOf(file string) map[string]func(string) string {
	switch path.Ext(file) {
	case ".ndjson":
		return lineForms
	case ".json":
		return jsonForms
	case ".events":
		return frameForms
	}
	return spellings
}

// TestB4EveryFormatCutAnywhere cuts a stream of each format at every offset (at every fifth in the forms whose
// cuts matter less) and into single bytes: bytes and usage are the same as in one piece.
func TestB4EveryFormatCutAnywhere(t *testing.T) {
	for file, tc := range recordings {
		contentType := typeOfFile[path.Ext(file)]
		for name, form := range formsOf(file) {
			t.Run(file+"/"+name, func(t *testing.T) {
				text := framed(t, file)
				if path.Ext(file) == ".sse" {
					text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
				}
				text = []byte(form(string(text)))
				check := func(pieces ...[]byte) {
					t.Helper()
					m := newMeter(tc.format, contentType)
					for _, p := range pieces {
						if got := m.Write(p); !bytes.Equal(got, p) {
							t.Fatalf("%q passed as %q", p, got)
						}
					}
					if rest := m.Close(); len(rest) > 0 {
						t.Fatalf("held back %q", rest)
					}
					if got := outcomeOf(m); got != tc.want {
						t.Fatalf("cut at %d of %d: (-want +got)\n%s", len(pieces[0]), len(text), cmp.Diff(tc.want, got))
					}
				}
				step := 5
				if everyCut[name] || name == "as sent" {
					step = 1
				}
				for cut := 0; cut <= len(text); cut += step {
					check(text[:cut], text[cut:])
				}
				check(singles(text)...)
			})
		}
	}
}

// TestB4EveryFormatCutAtRandom is the same with several cuts, in buffers that are used again.
func TestB4EveryFormatCutAtRandom(t *testing.T) {
	files := sortedStreams()
	rapid.Check(t, func(r *rapid.T) {
		file := rapid.SampledFrom(files).Draw(r, "file")
		text := framed(t, file)
		m := newMeter(recordings[file].format, typeOfFile[path.Ext(file)])
		buf := make([]byte, len(text))
		for rest := text; len(rest) > 0; {
			n := copy(buf, rest[:rapid.IntRange(1, min(len(rest), 200)).Draw(r, "n")])
			m.Write(buf[:n])
			clear(buf[:n])
			rest = rest[n:]
		}
		m.Close()
		if diff := cmp.Diff(recordings[file].want, outcomeOf(m)); diff != "" {
			r.Fatalf("%s: (-want +got)\n%s", file, diff)
		}
	})
}

func sortedStreams() (files []string) {
	for file := range recordings {
		files = append(files, file)
	}
	slices.Sort(files)
	return files
}

// TestB9NoPrefixIsMoreThanTheWhole: wherever a stream breaks off, what was seen is at most what all of it
// reports, nothing known becomes unknown, and what broke before its end is not complete.
func TestB9NoPrefixIsMoreThanTheWhole(t *testing.T) {
	firstEnd := map[string]int{}
	for file, tc := range recordings {
		text := framed(t, file)
		m := newMeter(tc.format, typeOfFile[path.Ext(file)])
		last := m.Usage()
		for i := range text {
			m.Write(text[i : i+1])
			if m.Complete() && firstEnd[file] == 0 {
				firstEnd[file] = i
			}
			u := m.Usage()
			if u.Input > tc.want.Usage.Input || u.Output > tc.want.Usage.Output || u.Input < last.Input || u.Output < last.Output {
				t.Fatalf("%s: usage %+v after %d bytes, %+v before", file, u, i+1, last)
			}
			last = u
		}
		if firstEnd[file] < len(text)/2 {
			t.Errorf("%s: complete after %d of %d bytes", file, firstEnd[file], len(text))
		}
	}
}

// TestB9HalfAnEventIsNone: a stream that breaks off within an event is no different from one that breaks off
// before it, but for the content that had passed.
func TestB9HalfAnEventIsNone(t *testing.T) {
	for file, tc := range recordings {
		text := framed(t, file)
		complete, usage := true, tc.want.Usage
		for end := len(text); end >= 0; end-- {
			m := newMeter(tc.format, typeOfFile[path.Ext(file)])
			m.Write(text[:end])
			m.Close()
			// Whatever is cut from the end, only known values and the end itself get lost.
			u := m.Usage()
			for _, v := range [][2]int64{{u.Input, usage.Input}, {u.Output, usage.Output}, {u.CachedRead, usage.CachedRead}} {
				if v[0] > v[1] {
					t.Fatalf("%s: %+v after %d of %d bytes, with more %+v", file, u, end, len(text), usage)
				}
			}
			if m.Complete() && !complete {
				t.Fatalf("%s: complete after %d of %d bytes, not with more", file, end, len(text))
			}
			complete, usage = m.Complete(), u
		}
		if complete {
			t.Errorf("%s: complete with nothing", file)
		}
	}
}

// TestB9BrokenOffStreams: the output of a stream that breaks off before its end is counted by what passed.
func TestB9BrokenOffStreams(t *testing.T) {
	for file, tc := range recordings {
		text := framed(t, file)
		whole := newMeter(tc.format, typeOfFile[path.Ext(file)])
		end := 0
		for ; !whole.Complete(); end++ {
			whole.Write(text[end : end+1])
		}
		m := newMeter(tc.format, typeOfFile[path.Ext(file)])
		m.Write(text[:end-4]) // within the event: its blank line may be missing
		m.Close()
		if m.Complete() || m.OutputSoFar() < 1 || !m.ContentSeen() {
			t.Errorf("%s: complete %v, content %v, output %d", file, m.Complete(), m.ContentSeen(), m.OutputSoFar())
		}
	}
}
