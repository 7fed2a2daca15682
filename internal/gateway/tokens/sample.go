// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// Bounds of a sample.
const (
	// sampleBudget bounds what is looked at of a request; it takes some 50 µs.
	sampleBudget = 32 << 10
	// windowBase and one windowPart-th of its length are looked at of a text.
	windowBase = 1024
	windowPart = 16
	// windows is how many places of a long text that is divided to: prompts with attachments are of several kinds.
	windows = 16
	// PerByte is what a byte of a text costs of which nothing is known: between the half that base64 takes and the
	// sixth that Russian takes.
	PerByte = 1.0 / 3
	// perStructural is what a quote, bracket, comma or colon of JSON costs: two or three make a token.
	perStructural = 0.4
)

// Sample gathers how many tokens the texts of a request have for each byte. The zero value is ready and estimates.
type Sample struct {
	exact         func(text []byte) float64
	used          int
	bytes, tokens float64
}

// Exactly returns a sample that counts as model's own vocabulary does; false where that is not linked or not known.
func Exactly(model string) (Sample, bool) {
	count := counter(model)
	return Sample{exact: count}, count != nil
}

// Add takes in a text of JSON, of that many bytes once it is decoded.
func (s *Sample) Add(text jsonscan.String, bytes int) { s.take(text.Raw, bytes, decoded) }

// AddPlain takes in a text as it is.
func (s *Sample) AddPlain(text []byte) {
	s.take(text, len(text), func(part []byte) []byte { return part })
}

func (s *Sample) take(raw []byte, bytes int, decode func([]byte) []byte) {
	switch {
	case bytes <= 0 || len(raw) == 0:
	case s.exact != nil:
		s.count(raw, bytes, decode)
	default:
		s.look(raw, bytes, decode)
	}
}

// count counts a text, or as much as the budget allows.
func (s *Sample) count(raw []byte, bytes int, decode func([]byte) []byte) {
	part := raw[:min(len(raw), exactBudget-s.used)]
	if len(part) == 0 {
		return
	}
	s.used += len(part)
	part = decode(part)
	s.add(bytes, s.exact(part)/float64(len(part)))
}

// look estimates a text by a few windows.
func (s *Sample) look(raw []byte, bytes int, decode func([]byte) []byte) {
	size := min(len(raw), windowBase+len(raw)/windowPart, sampleBudget-s.used)
	if size < windows && size < len(raw) {
		return
	}
	s.used += size
	if size == len(raw) {
		text := decode(raw)
		s.add(bytes, Expected(text)/float64(len(text)))
		return
	}
	found, seen, each := 0.0, 0, size/windows
	for i := range windows {
		from := i * (len(raw) - each) / (windows - 1)
		text := decode(raw[from : from+each])
		found, seen = found+Expected(text), seen+len(text)
	}
	s.add(bytes, found/float64(seen))
}

// decoded is what a part of a string stands for; it is not empty, since no escape stands for nothing.
func decoded(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return []byte(jsonscan.String{Raw: raw}.Value())
}

func (s *Sample) add(bytes int, density float64) {
	s.bytes += float64(bytes)
	s.tokens += float64(bytes) * density
}

// Structure takes in bytes of JSON around names and values.
func (s *Sample) Structure(bytes int) { s.add(bytes, perStructural) }

// Unseen takes in bytes of text that cannot be looked at.
func (s *Sample) Unseen(bytes int) { s.add(bytes, PerByte) }

// Tokens takes in so many bytes that stand for one token.
func (s *Sample) Tokens(bytes int) { s.add(bytes, 1/float64(bytes)) }

// PerByte is how many tokens a byte of the texts has on average, at most one; 0 is unknown.
func (s *Sample) PerByte() float64 {
	if s.bytes == 0 {
		return 0
	}
	return min(s.tokens/s.bytes, 1)
}
