// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// asUTF8 undoes what terminals do to text: byte order marks, and the 16-bit encoding of a redirected PowerShell.
func asUTF8(raw []byte) []byte {
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return decodeUTF16(raw[2:], binary.LittleEndian)
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return decodeUTF16(raw[2:], binary.BigEndian)
	}
	return bytes.TrimPrefix(raw, []byte("\ufeff"))
}

func decodeUTF16(raw []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// unindented undoes the indent of a quotation, as in an issue or a runbook: with it every header would be taken for the
// rest of the line before. What is indented less is left alone.
func unindented(text []byte) []byte {
	text = bytes.TrimLeft(text, "\r\n")
	indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	if len(indent) == 0 {
		return text
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimPrefix(line, indent)
	}
	return bytes.Join(lines, nil)
}

// verbose takes the response out of the output of curl -v, where "< " marks its head, and leaves other text alone.
func verbose(text []byte) []byte {
	line, _ := cutLine(bytes.TrimLeft(text, "\r\n \t"))
	if !strings.HasPrefix(line, "* ") && !strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, "< HTTP/") {
		return text
	}
	var out []byte
	inBody := false
	for len(text) > 0 {
		line, rest := cutLine(text)
		switch {
		case strings.HasPrefix(line, "< "), line == "<":
			out = append(append(out, strings.TrimPrefix(line[1:], " ")...), '\n')
			inBody = line == "<" || line == "< "
		case isNoise(line):
		case inBody:
			out = append(out, text[:len(text)-len(rest)]...)
		}
		text = rest
	}
	return out
}

// isNoise are curl's remarks, the request, and the marks of what it left out.
func isNoise(line string) bool {
	for _, mark := range [...]string{"* ", "> ", "} [", "{ ["} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return line == ">" || line == "*"
}
