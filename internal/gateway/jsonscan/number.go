// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"bytes"
	"math"
	"strconv"
)

const (
	// maxInt is what JSON's own numbers hold exactly; larger ones saturate.
	maxInt = int64(1) << 53
	// maxNumber bounds numbers with a fraction or an exponent; no sensible one is longer.
	maxNumber = 32
)

// Int reads an integer, however it is written: 4096, 4096.0 and 4.096e3 are one. ok is false for any other value,
// which is skipped. Values beyond 1<<53 saturate.
func (s *Scanner) Int() (value int64, ok bool) {
	c := s.Kind()
	if c != '-' && (c < '0' || c > '9') {
		s.Skip()
		return 0, false
	}
	start := s.pos
	s.Skip()
	return parseInt(s.data[start:s.pos])
}

// QuotedInt reads an integer inside a string, as some APIs take it. ok is false for any other value, which is
// skipped.
func (s *Scanner) QuotedInt() (value int64, ok bool) {
	if s.Kind() != '"' {
		s.Skip()
		return 0, false
	}
	text, ok := s.Text()
	if !ok {
		return 0, false
	}
	if bytes.IndexByte(text.Raw, '\\') >= 0 {
		// An escaped digit is a digit.
		return parseInt([]byte(text.Value()))
	}
	return parseInt(text.Raw)
}

func parseInt(text []byte) (int64, bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return 0, false
	}
	var value int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return parseFloat(text)
		}
		if value < maxInt {
			value = value*10 + int64(c-'0')
		}
	}
	value = min(value, maxInt)
	if len(digits) < len(text) {
		value = -value
	}
	return value, true
}

// parseFloat reads an integer that is written with a fraction or an exponent.
func parseFloat(text []byte) (int64, bool) {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9', c == '.', c == 'e', c == 'E', c == '+', c == '-':
		default:
			return 0, false // the library would read NaN, Inf and 0x1p4
		}
	}
	if len(text) > maxNumber {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !math.IsInf(v, 0) || v != math.Trunc(v) {
		return 0, false
	}
	return int64(max(-float64(maxInt), min(v, float64(maxInt)))), true
}
