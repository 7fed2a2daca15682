// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// maxWide bounds the bodies that are read in another encoding than UTF-8: they take as much memory again.
const maxWide = 4 << 20

// wide is an encoding of Unicode in units of several bytes.
type wide struct {
	unit  int
	order binary.ByteOrder
	// mark is of bytes that a body begins with.
	mark []byte
}

var wides = []wide{
	{4, binary.LittleEndian, []byte("\xff\xfe\x00\x00")},
	{4, binary.BigEndian, []byte("\x00\x00\xfe\xff")},
	{4, binary.BigEndian, []byte("\x00\x00\x00{")},
	{4, binary.LittleEndian, []byte("{\x00\x00\x00")},
	{2, binary.LittleEndian, []byte("\xff\xfe")},
	{2, binary.BigEndian, []byte("\xfe\xff")},
	{2, binary.BigEndian, []byte("\x00{")},
	{2, binary.LittleEndian, []byte("{\x00")},
}

// inUTF8 is a JSON object in UTF-8. The standard allows nothing else, but servers in Python take the others too, and
// by them a model could be named to the provider alone.
func inUTF8(body []byte) []byte {
	if len(body) > maxWide {
		return body
	}
	for _, w := range wides {
		if bytes.HasPrefix(body, w.mark) {
			return w.decode(body)
		}
	}
	return body
}

func (w wide) decode(body []byte) []byte {
	out := make([]byte, 0, len(body)/w.unit+len(body)/8)
	for ; len(body) >= w.unit; body = body[w.unit:] {
		r := rune(w.order.Uint16(body))
		if w.unit == 4 {
			r = rune(w.order.Uint32(body))
		}
		if w.unit == 2 && utf16.IsSurrogate(r) && len(body) >= 4 {
			if whole := utf16.DecodeRune(r, rune(w.order.Uint16(body[2:]))); whole != utf8.RuneError {
				r, body = whole, body[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
