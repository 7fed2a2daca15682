// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tokens

// class of a byte.
type class uint8

const (
	mark class = iota // punctuation, and control characters
	lower
	upper
	digit
	space
	newline
	inside // of a character
	two    // the first of two bytes: Latin, Greek, Cyrillic, Hebrew, Arabic
	three  // of three: the rest of the world, Chinese above all
	four   // of four: emoji
)

var classes = func() (t [256]class) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = lower
		case c >= 'A' && c <= 'Z':
			t[c] = upper
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == ' ' || c == '\t':
			t[c] = space
		case c == '\n' || c == '\r':
			t[c] = newline
		case c >= 0xf0:
			t[c] = four
		case c >= 0xe0:
			t[c] = three
		case c >= 0xc0:
			t[c] = two
		case c >= 0x80:
			t[c] = inside
		}
	}
	return t
}()

// features are what is counted of a text.
type features struct {
	words     int // that begin after something else than a letter or digit
	glued     int // that begin inside of one: aB, 1a
	long      int // letters of a word beyond its sixth
	numbers   int // groups of three digits
	marks     int // runs of marks
	moreMarks int // marks that follow a mark
	spaces    int // runs of two and more
	lines     int // runs of newlines
	pairs     int // characters of two bytes
	triples   int // of three
	quads     int // of four
}

const (
	longWord    = 6
	digitsAGo   = 3
	shortSpaces = 1
)

// read counts. A word runs through lower-case letters, and may begin with capitals.
func read(text []byte) (f features) {
	previous, run := newline, 0
	for _, b := range text {
		c := classes[b]
		if c == previous || c == lower && previous == upper {
			run++
			f.more(c, run)
			previous = c
			continue
		}
		if c != inside {
			f.begin(c, previous)
			previous, run = c, 1
		}
	}
	return f
}

// begin counts the first of a run.
func (f *features) begin(c, previous class) {
	switch c {
	case lower, upper:
		if previous == digit || previous == lower {
			f.glued++
		} else {
			f.words++
		}
	case digit:
		f.numbers++
	case mark:
		f.marks++
	case newline:
		f.lines++
	case two:
		f.pairs++
	case three:
		f.triples++
	case four:
		f.quads++
	default:
	}
}

// more counts the run-th of a run.
func (f *features) more(c class, run int) {
	switch c {
	case lower, upper:
		if run > longWord {
			f.long++
		}
	case digit:
		if run%digitsAGo == 1 {
			f.numbers++
		}
	case mark:
		f.moreMarks++
	case space:
		if run == shortSpaces+1 {
			f.spaces++
		}
	case two:
		f.pairs++
	case three:
		f.triples++
	case four:
		f.quads++
	default:
	}
}
