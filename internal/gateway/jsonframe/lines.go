// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonframe

import "bytes"

// Lines is ready to use when zero.
type Lines struct {
	value collector
	trim  trimming
}

// Write splits p.
func (l *Lines) Write(p []byte, h Handler) {
	l.trim.Handler = h
	for {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if !ended {
			if len(line) > 0 {
				l.value.add(line, &l.trim)
			}
			return
		}
		l.value.end(line, &l.trim)
		p = rest
	}
}

// Close ends the stream; a last line without its end counts.
func (l *Lines) Close(h Handler) {
	if l.trim.Handler = h; !l.value.empty() {
		l.value.end(nil, &l.trim)
	}
}

// trimming takes from lines what surrounds their value: blanks, a byte order mark, a record separator. Empty
// lines are none.
type trimming struct{ Handler }

func (t *trimming) Value(line []byte) {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	if line = bytes.Trim(line, " \t\r\x1e"); len(line) > 0 {
		t.Handler.Value(line)
	}
}
