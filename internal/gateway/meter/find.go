// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "bytes"

// after finds the member name in data and returns what follows its colon. name is given without its first
// quote and with its last: fewer false starts, and text inside a string cannot match, for there the quote is
// escaped.
func after(data, name []byte) []byte {
	for {
		i := bytes.Index(data, name)
		if i < 0 {
			return nil
		}
		data = data[i+len(name):]
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
