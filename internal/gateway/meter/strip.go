// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/headgate-dev/headgate/internal/gateway/sse"
)

// stripper removes the usage chunk that was asked for on the client's behalf. It holds back an event only
// while that may be the chunk, which its first few members tell.
type stripper struct {
	held   []byte // bytes of the stream from heldAt on
	heldAt int64
	passed int64 // what lies before this offset has been handed on
	cuts   []span
	out    []byte
	// lateLF: the chunk that was cut ended in CR, and an LF that comes next belongs to it.
	lateLF bool
}

type span struct{ start, end int64 }

// begin prepares for p at offset.
func (s *stripper) begin(offset int64, p []byte) {
	s.cuts = s.cuts[:0]
	if s.lateLF && len(p) > 0 {
		if s.lateLF = false; p[0] == '\n' {
			s.cuts = append(s.cuts, span{offset, offset + 1})
		}
	}
	if len(s.held) == 0 {
		s.heldAt = offset
	}
}

// cut removes an event, unless a part of it has gone.
func (s *stripper) cut(start, end int64) {
	if start >= s.passed {
		s.cuts = append(s.cuts, span{start, end})
	}
}

// pass returns what of the held bytes and p goes on.
func (s *stripper) pass(split *sse.Splitter, p []byte) []byte {
	end := split.Offset()
	until := end
	if pending, ok := split.Pending(); ok && pending.Start >= s.passed && !pending.Foreign && mayBeUsageChunk(pending.Data) {
		until = pending.Start
	}
	if n := len(s.cuts); n > 0 && s.cuts[n-1].end == end {
		s.lateLF = split.AfterCR()
	}
	s.passed = until
	if len(s.held) == 0 && len(s.cuts) == 0 && until == end {
		return p
	}
	s.held = append(s.held, p...)
	ready := int(until - s.heldAt)
	s.out = s.without(s.held[:ready])
	s.held = append(s.held[:0], s.held[ready:]...)
	s.heldAt = until
	return s.out
}

// without copies text, which begins at heldAt, leaving out the cuts.
func (s *stripper) without(text []byte) []byte {
	out := s.out[:0]
	at := s.heldAt
	for _, c := range s.cuts {
		out = append(out, text[at-s.heldAt:c.start-s.heldAt]...)
		at = c.end
	}
	return append(out, text[at-s.heldAt:]...)
}

// rest returns what is still held when the stream has ended.
func (s *stripper) rest() []byte {
	out := bytes.Clone(s.without(s.held))
	s.held, s.cuts = nil, nil
	return out
}
