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
	accent // the first of two bytes: Latin letters with accents
	slavic // of two: Cyrillic, of which vocabularies know more than of the next
	two    // of two: Greek, Hebrew, Arabic
	indic  // of three: the scripts of India, Thai, Georgian, Vietnamese letters, which vocabularies cut into syllables
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
		case c > 0xe1:
			t[c] = three
		case c >= 0xe0:
			t[c] = indic
		case c >= 0xd0 && c <= 0xd3:
			t[c] = slavic
		case c >= 0xcc:
			t[c] = two
		case c >= 0xc0:
			t[c] = accent
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
	accents   int // characters of two bytes that are Latin
	slavic    int // that are Cyrillic
	pairs     int // all others
	syllables int // of three, in scripts of syllables
	triples   int // of three, in all others
	quads     int // of four
}

const (
	longWord   = 6
	digitGroup = 3
)

// read counts, run by run of bytes of one class. A word runs through lower-case letters, and may begin with capitals.
func read(text []byte) (f features) {
	previous, capitals := newline, 0
	for i := 0; i < len(text); {
		c, from := classes[text[i]], i
		for i++; i < len(text) && classes[text[i]] == c; i++ {
			continue
		}
		if c == inside {
			continue
		}
		run := i - from
		if c == lower && previous == upper {
			f.long += max(capitals+run-longWord, 0) - max(capitals-longWord, 0)
		} else {
			f.add(c, previous, run)
		}
		previous, capitals = c, run
	}
	return f
}

// add counts a run.
func (f *features) add(c, previous class, run int) {
	switch c {
	case lower, upper:
		switch previous {
		case digit, lower:
			f.glued++
		case indic: // in the middle of a word
		default:
			f.words++
		}
		f.long += max(run-longWord, 0)
	case digit:
		f.numbers += (run + digitGroup - 1) / digitGroup
	case mark:
		f.marks++
		f.moreMarks += run - 1
	case space:
		if run > 1 {
			f.spaces++
		}
	case newline:
		f.lines++
	case accent:
		f.accents += run
	case slavic:
		f.slavic += run
	case two:
		f.pairs += run
	case indic:
		f.syllables += run
	case three:
		f.triples += run
	case four:
		f.quads += run
	default:
	}
}
