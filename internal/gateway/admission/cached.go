// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

// class is a size of prompts, in steps of four, and whether they are marked for a cache. What is read from a cache
// depends on both: short prompts are not cached, and of a long conversation all but the last turn is.
type class int

const (
	sizes       = 6
	classes     = 2 * sizes
	smallest    = 1 << 10
	stepOfClass = 4
)

func classOf(tokens float64, marked bool) class {
	c := class(0)
	for limit := float64(smallest); tokens >= limit && c < sizes-1; limit *= stepOfClass {
		c++
	}
	if marked {
		c += sizes
	}
	return c
}

// share is the part of the input that is charged.
type share struct {
	mean, low float64
	samples   int
}

func (s *share) add(sample float64) {
	s.mean = blend(s.mean, sample, s.samples)
	if s.samples == 0 {
		s.low = sample
	}
	s.low = min(sample, s.low+alpha*(s.mean-s.low))
	s.samples++
}

// least is the smallest share that is likely; what always was charged whole is.
func (s *share) least() float64 {
	if s.low >= 1 {
		return 1
	}
	return s.low / learnedSlack
}

// charged is the share that a call of a class is charged, and the least that it may be. What nothing is known of is
// like the next smaller size; larger ones would promise too much.
func (l *learned) charged(c class) (mean, least float64) {
	marked := c >= sizes
	for ; ; c-- {
		s := &l.shares[c]
		switch {
		case s.samples >= settledSamples || s.samples > 0 && !marked:
			return s.mean, s.least()
		case s.samples > 0:
			return s.mean, 0
		case c == 0 || c == sizes:
			return unlearnedShare(marked)
		}
	}
}

// unlearnedShare charges everything. What is marked may yet stand in the cache, for others may have put it there.
func unlearnedShare(marked bool) (mean, least float64) {
	if marked {
		return 1, 0
	}
	return 1, 1
}
