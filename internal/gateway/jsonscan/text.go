// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// String is a JSON string as it stands in the document, without its quotes.
type String struct{ Raw []byte }

// Is reports whether the string is want, however it is escaped.
func (s String) Is(want string) bool {
	if bytes.IndexByte(s.Raw, '\\') < 0 {
		return string(s.Raw) == want
	}
	return s.Value() == want
}

// Len is the length of the text the string stands for, in UTF-8: programs that escape everything beyond
// ASCII do not make a text three times as long.
func (s String) Len() int {
	n, rest := 0, s.Raw
	for {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 >= len(rest) {
			return n + len(rest)
		}
		r, size := unescape(rest[i:])
		n += i + max(utf8.RuneLen(r), 1)
		rest = rest[i+size:]
	}
}

// Value is the text the string stands for.
func (s String) Value() string {
	i := bytes.IndexByte(s.Raw, '\\')
	if i < 0 {
		return string(s.Raw)
	}
	out := append(make([]byte, 0, len(s.Raw)), s.Raw[:i]...)
	for rest := s.Raw[i:]; len(rest) > 0; {
		r, size := unescape(rest)
		out, rest = utf8.AppendRune(out, r), rest[size:]
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			i = len(rest)
		}
		out, rest = append(out, rest[:i]...), rest[i:]
	}
	return string(out)
}

var escapes = [256]rune{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// unescape reads the escape at the start of text; size is at least 1 and at most len(text).
func unescape(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return utf8.RuneError, len(text)
	}
	if text[1] != 'u' {
		if r := escapes[text[1]]; r != 0 {
			return r, 2
		}
		return rune(text[1]), 2
	}
	first, ok := hex4(text[2:])
	if !ok {
		return utf8.RuneError, 2
	}
	if utf16.IsSurrogate(first) && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if second, ok := hex4(text[8:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 12
			}
		}
	}
	return first, 6
}

func hex4(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range text[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
