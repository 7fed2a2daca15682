// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sse

import "bytes"

const (
	// MaxEvent is how much data of one event is kept. Events of text are below 1 KiB.
	MaxEvent = 64 << 10
	// maxName bounds event names; the longest known is below 64.
	maxName = 128
	// maxBeside is how much of an event's lines is kept that are no data, and how many bytes of them make it foreign: who holds it
	// back to see what it is would hold any number of them. Names and ids are far shorter.
	maxBeside = 1 << 10
	// keepBuffer is the largest buffer that outlives its event: thousands of slow streams are open at once.
	keepBuffer = 4 << 10
)

// Event is one event. Its slices are valid only during the call.
type Event struct {
	// Name is the event field, empty where there is none. Data are the data lines, joined by LF.
	Name, Data []byte
	// Start and End are offsets in the stream: of the first line that is no comment, without a byte order mark, and behind the
	// blank line.
	Start, End int64
	// Foreign: it has fields other than data, an id, and the name that an event has by default, or more than maxBeside bytes
	// of these and of comments.
	Foreign bool
}

// Handler is told of events.
type Handler interface {
	// Event is called for each event with data of at most MaxEvent bytes.
	Event(e Event)
	// Large is called with the data of a larger one, piece by piece.
	Large(piece []byte)
	// LargeEnd ends it; e has no data.
	LargeEnd(e Event)
}

// Splitter is ready to use when zero.
type Splitter struct {
	offset int64 // of the next byte to be written
	// skipLF: the last byte was CR, so an LF that comes next belongs to it.
	skipLF  bool
	started bool // the first line has passed, so no byte order mark can come

	line      []byte // the unfinished line, if it is kept
	lineStart int64
	mode      lineMode

	start   int64 // of the block, if open
	open    bool  // a line that is no comment has passed
	name    []byte
	data    []byte
	owned   []byte // the buffer behind data, unless data lies in what is being written
	hasData bool
	large   bool
	foreign bool
	beside  int // how many bytes of it are no data
}

type lineMode uint8

const (
	whole  lineMode = iota // the line is kept
	passed                 // it is data of a large event and handed on
	begun                  // it is no data, and of a long one only the beginning is kept
)

// Offset is how many bytes have been written.
func (s *Splitter) Offset() int64 { return s.offset }

// Write splits p.
func (s *Splitter) Write(p []byte, h Handler) {
	i := 0
	if s.skipLF && len(p) > 0 {
		if s.skipLF = false; p[0] == '\n' {
			i = 1
		}
	}
	for lf, cr := -1, -1; i < len(p); {
		lf, cr = next(p, i, lf, '\n'), next(p, i, cr, '\r')
		end := min(lf, cr)
		if s.mode == whole && len(s.line) == 0 {
			s.lineStart = s.offset + int64(i)
		}
		if end == len(p) {
			s.add(p[i:], h)
			break
		}
		after := end + 1
		if p[end] == '\r' {
			if after == len(p) {
				s.skipLF = true
			} else if p[after] == '\n' {
				after++
			}
		}
		s.finishLine(p[i:end], s.offset+int64(after), h)
		i = after
	}
	s.offset += int64(len(p))
	s.own()
}

// next is the next c at or after i; at is where it was found before.
func next(p []byte, i, at int, c byte) int {
	if at >= i {
		return at
	}
	if k := bytes.IndexByte(p[i:], c); k >= 0 {
		return i + k
	}
	return len(p)
}

// Close ends the stream; an event without its blank line counts.
func (s *Splitter) Close(h Handler) {
	if len(s.line) > 0 || s.mode != whole {
		s.finishLine(nil, s.offset, h)
	}
	s.dispatch(s.offset, h)
}

// add takes a piece of a line whose end has not come.
func (s *Splitter) add(piece []byte, h Handler) {
	switch s.mode {
	case begun:
		return
	case passed:
		h.Large(piece)
		return
	case whole:
	}
	k := min(len(piece), max(decisive-len(s.line), 0))
	if s.line = append(s.line, piece[:k]...); len(s.line) < decisive {
		return
	}
	piece = piece[k:]
	value, isData := bytes.CutPrefix(s.withoutMark(s.line), dataField)
	value = withoutSpace(value)
	switch {
	case !isData:
		s.addBeside(piece)
	case s.large || len(s.data)+len(value)+len(piece) > MaxEvent:
		s.overflow(value, h)
		h.Large(piece)
	default:
		s.line = append(s.line, piece...)
	}
}

var (
	dataField = []byte("data:")
	newline   = []byte{'\n'}
	colon     = []byte{':'}
)

// decisive is how many bytes of a line tell whether it is data: a byte order mark, the name, a space.
const decisive = 3 + 5 + 1

// overflow hands on the data that a line begins with, since the event is too large to be kept.
func (s *Splitter) overflow(value []byte, h Handler) {
	s.lineStart += s.mark(s.line)
	s.mode, s.line = passed, nil
	s.openBlock()
	s.startLarge(h)
	h.Large(value)
}

// addBeside takes a piece of a line that is no data. What is left out is behind all that matters.
func (s *Splitter) addBeside(piece []byte) {
	room := maxBeside + 1 - len(s.withoutMark(s.line))
	if s.line = append(s.line, piece[:min(len(piece), room)]...); len(piece) >= room {
		s.mode = begun
	}
}

func (s *Splitter) openBlock() {
	if !s.open {
		s.open, s.start = true, s.lineStart
	}
}

// startLarge turns the event into a large one, or continues one with a further line.
func (s *Splitter) startLarge(h Handler) {
	if s.hasData {
		h.Large(s.data)
		h.Large(newline)
	}
	s.large, s.hasData = true, true
	s.data, s.owned = nil, nil
}

// finishLine ends a line with rest; end is the offset behind its terminator.
func (s *Splitter) finishLine(rest []byte, end int64, h Handler) {
	mode := s.mode
	if s.mode = whole; mode == passed {
		h.Large(rest)
		s.started = true
		return
	}
	line := rest
	if len(s.line) > 0 {
		if mode == whole {
			s.line = append(s.line, rest...)
		}
		line = s.line
	}
	s.lineStart += s.mark(line)
	s.field(s.withoutMark(line), end, h)
	s.started = true
	s.line = reuse(s.line)
}

// mark is the length of the byte order mark that a line begins with, and that is none of it.
func (s *Splitter) mark(line []byte) int64 { return int64(len(line) - len(s.withoutMark(line))) }

// byteOrderMark may stand at the beginning of a stream.
var byteOrderMark = []byte("\xef\xbb\xbf")

// withoutMark removes the byte order mark a stream may begin with.
func (s *Splitter) withoutMark(line []byte) []byte {
	if s.started {
		return line
	}
	return bytes.TrimPrefix(line, byteOrderMark)
}

func reuse(buffer []byte) []byte {
	if cap(buffer) > keepBuffer {
		return nil
	}
	return buffer[:0]
}

// field takes one whole line.
func (s *Splitter) field(line []byte, end int64, h Handler) {
	if len(line) == 0 {
		s.dispatch(end, h)
		return
	}
	if line[0] == ':' {
		if s.open {
			s.passBeside(line)
		}
		return
	}
	s.openBlock()
	if len(line) > len(dataField) && string(line[:len(dataField)]) == string(dataField) {
		s.addData(withoutSpace(line[len(dataField):]), h)
		return
	}
	name, value, _ := bytes.Cut(line, colon)
	value = withoutSpace(value)
	if string(name) == "data" {
		s.addData(value, h)
		return
	}
	s.passBeside(line)
	s.foreign = s.foreign || string(name) != "id" && (string(name) != "event" || string(value) != defaultName)
	if string(name) == "event" {
		s.name = append(s.name[:0], value[:min(len(value), maxName)]...)
	}
}

// passBeside counts a line of an event that is no data.
func (s *Splitter) passBeside(line []byte) {
	s.beside = min(s.beside+len(line)+1, maxBeside+1)
	s.foreign = s.foreign || s.beside > maxBeside
}

// defaultName is what an event without a name is called by the standard, so that some name theirs so.
const defaultName = "message"

// withoutSpace removes the one space that may stand behind a colon.
func withoutSpace(value []byte) []byte {
	if len(value) > 0 && value[0] == ' ' {
		return value[1:]
	}
	return value
}

func (s *Splitter) addData(value []byte, h Handler) {
	switch {
	case s.large:
		h.Large(newline)
		h.Large(value)
	case len(s.data)+len(value) > MaxEvent:
		s.startLarge(h)
		h.Large(value)
	case !s.hasData && len(s.line) == 0:
		s.data, s.hasData = value, true // lies in what is being written; own copies it if it must stay
	default:
		s.own()
		if s.hasData {
			s.owned = append(s.owned, '\n')
		}
		s.owned = append(s.owned, value...)
		s.data, s.hasData = s.owned, true
	}
}

// own copies data that must outlive the piece it lies in.
func (s *Splitter) own() {
	if s.hasData && !s.large && len(s.owned) == 0 {
		s.owned = append(s.owned[:0], s.data...)
		s.data = s.owned
	}
}

func (s *Splitter) dispatch(end int64, h Handler) {
	e := Event{Name: s.name, Start: s.start, End: end, Foreign: s.foreign}
	switch {
	case s.large:
		h.LargeEnd(e)
	case s.hasData:
		e.Data = s.data
		h.Event(e)
	}
	s.open, s.hasData, s.large, s.foreign, s.beside = false, false, false, false, 0
	s.data, s.owned, s.name = nil, reuse(s.owned), s.name[:0]
}
