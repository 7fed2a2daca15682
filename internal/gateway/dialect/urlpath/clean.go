// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package urlpath

import "strings"

// Clean takes an escaped path (url.URL.EscapedPath), merges its slashes and resolves its dot segments, also
// where dots are percent-encoded; letters and digits that are encoded are decoded, which RFC 3986 §6.2.2.2
// calls equal, so that no spelling of a path escapes metering.
func Clean(path string) string {
	if clean(path) {
		return path
	}
	path = normalise(path)
	out := make([]byte, 0, len(path)+1)
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			out = out[:max(strings.LastIndexByte(string(out), '/'), 0)]
		default:
			out = append(append(out, '/'), segment...)
		}
	}
	if len(out) == 0 || strings.HasSuffix(path, "/") {
		out = append(out, '/')
	}
	return string(out)
}

// clean is the quick answer for nearly every path.
func clean(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for i := range len(path) {
		switch c := path[i]; {
		case c == '/' && i > 0 && path[i-1] == '/', c == '%', !allowed(c):
			return false
		case c == '.' && path[i-1] == '/':
			return false
		}
	}
	return true
}

// allowed are the characters a path may hold as they are.
func allowed(c byte) bool {
	return unreserved(c) || strings.IndexByte("/:@!$&'()*+,;=", c) >= 0
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

const upperHex = "0123456789ABCDEF"

// normalise decodes encoded unreserved characters and encodes what may not stand in a path.
func normalise(path string) string {
	var out strings.Builder
	out.Grow(len(path) + 8)
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			hi, lo := unhex(path[i+1]), unhex(path[i+2])
			if hi >= 0 && lo >= 0 {
				if c := byte(hi<<4 | lo); unreserved(c) {
					out.WriteByte(c)
				} else {
					out.WriteString(path[i : i+3])
				}
				i += 2
				continue
			}
		}
		if allowed(c) {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(upperHex[c>>4])
		out.WriteByte(upperHex[c&15])
	}
	return out.String()
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
