// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// TestFeatures: what is counted of a text, one kind at a time.
func TestFeatures(t *testing.T) {
	for text, want := range map[string]features{
		"":              {},
		"two words":     {words: 2},
		"Capital":       {words: 1, long: 1},
		"ALLCAPS":       {words: 1, long: 1},
		"HTTPServer":    {words: 1, long: 4},
		"camelCase":     {words: 1, glued: 1},
		"a1b2":          {words: 1, glued: 1, numbers: 2},
		"1234567":       {numbers: 3},
		"123 456":       {numbers: 2},
		"a, b":          {words: 2, marks: 1},
		"})];":          {marks: 1, moreMarks: 3},
		"a    b\n\n\tc": {words: 3, spaces: 1, lines: 1},
		"да":            {slavic: 2},
		"αβ":            {pairs: 2},
		"für":           {words: 2, accents: 1},
		"tiếng":         {words: 1, syllables: 1},
		"你好":            {triples: 2},
		"हिन्":          {syllables: 4},
		"🎉🎉":            {quads: 2},
		"\x80\xbf":      {},
		"a\x80b":        {words: 1, glued: 1},
	} {
		if got := read([]byte(text)); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// TestSampleLooksAtPartsOnly: a long text costs a bounded look, whose parts stand for the whole, also where it is of
// several kinds.
func TestSampleLooksAtPartsOnly(t *testing.T) {
	for name, text := range map[string]string{
		"one kind":  strings.Repeat("All work and no play makes nobody happy. ", 30_000),
		"two kinds": strings.Repeat("All work and no play. ", 20_000) + strings.Repeat("你好", 70_000),
	} {
		var s Sample
		s.Add(jsonscan.String{Raw: []byte(text)}, len(text))
		want := Expected([]byte(text)) / float64(len(text))
		if got := s.PerByte(); got < 0.9*want || got > 1.15*want || s.used > sampleBudget {
			t.Errorf("%s: %v for each byte, of the whole %v; looked at %d bytes", name, got, want, s.used)
		}
	}
	var s Sample
	for range 1000 {
		s.AddPlain(bytes.Repeat([]byte("word "), 200))
	}
	if s.used > sampleBudget {
		t.Errorf("looked at %d bytes", s.used)
	}
}

// TestSampleWeighsByLength: a short text does not count as much as a long one, and what cannot be looked at counts by
// its length.
func TestSampleWeighsByLength(t *testing.T) {
	var s Sample
	if s.PerByte() != 0 {
		t.Error("knows something of nothing")
	}
	s.AddPlain([]byte("aaaa")) // 1 token
	s.Unseen(12)               // 4
	s.Structure(10)            // 4
	s.Tokens(3)                // 1
	if got := s.PerByte(); got < 10.0/29-1e-9 || got > 10.0/29+1e-9 {
		t.Errorf("%v", got)
	}
}

// TestEscapedTextIsReadDecoded: programs that escape everything beyond ASCII write the same text.
func TestEscapedTextIsReadDecoded(t *testing.T) {
	var plain, escaped Sample
	plain.Add(jsonscan.String{Raw: []byte("你好, world")}, 13)
	escaped.Add(jsonscan.String{Raw: []byte(`\u4f60\u597d, world`)}, 13)
	if plain.PerByte() != escaped.PerByte() {
		t.Errorf("%v and %v", plain.PerByte(), escaped.PerByte())
	}
}

// FuzzSample: no bytes are too strange, and none have more tokens than bytes.
func FuzzSample(f *testing.F) {
	f.Add([]byte("Some words, 123 numbers, \\u4f60 and \xff"), 20)
	f.Add([]byte(strings.Repeat("aB1", 1000)), 0)
	f.Add([]byte(`\`), 1)
	f.Fuzz(func(t *testing.T, text []byte, claimed int) {
		var s Sample
		s.Add(jsonscan.String{Raw: text}, max(claimed, 0))
		s.AddPlain(text)
		if got := s.PerByte(); !(got >= 0 && got <= 1) {
			t.Errorf("%v for each byte", got)
		}
		if got := Expected(text); !(got >= 0 && got <= 2*float64(len(text))) {
			t.Errorf("%v expected", got)
		}
	})
}

// TestSampleIsQuick: a megabyte in about a fifth of a millisecond; under the race detector and load, far more.
func TestSampleIsQuick(t *testing.T) {
	text := bytes.Repeat([]byte("All work and no play. "), 50_000)
	best := time.Hour
	for range 10 {
		began := time.Now()
		var s Sample
		s.AddPlain(text)
		best = min(best, time.Since(began))
	}
	if best > 10*time.Millisecond {
		t.Errorf("took %v", best)
	}
}

func BenchmarkExpected(b *testing.B) {
	text := bytes.Repeat([]byte("All work, and no play. "), 50)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Expected(text)
	}
}
