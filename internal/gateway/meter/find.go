// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "bytes"

// finder finds one member in the events of a stream. The events of one stream are alike, so it looks first
// where the member was the last time, counted from the event's beginning or from its end.
type finder struct {
	// name is without its first quote and with its last: fewer false starts, and text inside a string cannot
	// match, for there the quote is escaped.
	name    []byte
	fromEnd bool
	last    int
}

// after returns what follows the member's colon, nil if there is none.
func (f *finder) after(data []byte) []byte {
	i := f.last
	if f.fromEnd {
		i = len(data) - f.last
	}
	behind := i + len(f.name)
	if i > 0 && behind+1 < len(data) && data[behind] == ':' && data[behind+1] > ' ' && bytes.Equal(data[i:behind], f.name) {
		return data[behind+1:]
	}
	value := after(data, f.name)
	if value != nil {
		f.last = len(data) - len(value) - len(f.name) - len(":")
		if f.fromEnd {
			f.last = len(data) - f.last
		}
	}
	return value
}

// after finds the member name, spelled as a finder's, and returns what follows its colon.
func after(data, name []byte) []byte {
	for {
		i := bytes.Index(data, name)
		if i < 0 {
			return nil
		}
		data = data[i+len(name):]
		if len(data) > 1 && data[0] == ':' && data[1] > ' ' {
			return data[1:]
		}
		rest := bytes.TrimLeft(data, " \t\r\n")
		if len(rest) > 0 && rest[0] == ':' {
			return bytes.TrimLeft(rest[1:], " \t\r\n")
		}
	}
}

// starts reports whether a value begins with c.
func starts(value []byte, c byte) bool { return len(value) > 0 && value[0] == c }

// textLen is the length of the string that value begins with; 0 for any other value.
func textLen(value []byte) int {
	if !starts(value, '"') {
		return 0
	}
	for at := 1; ; {
		i := bytes.IndexByte(value[at:], '"')
		if i < 0 {
			return len(value) - 1
		}
		end := at + i
		back := end
		for back > at && value[back-1] == '\\' {
			back--
		}
		if (end-back)%2 == 0 {
			return end - 1
		}
		at = end + 1
	}
}

// anyText is the length of the first non-empty string at one of names.
func anyText(data []byte, names [][]byte) int {
	for _, name := range names {
		if n := textLen(after(data, name)); n > 0 {
			return n
		}
	}
	return 0
}
