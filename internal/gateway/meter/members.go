// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// members keeps what a reader looks at of a document that is too large to be kept.
type members struct {
	*jsonscan.Stream
	paths []string
}

func newMembers(paths []string) *members {
	return &members{jsonscan.NewStream(paths...), paths}
}

// member is a value and the parts of its path.
type member struct {
	path  []string
	value []byte
}

// document is a small document with the members that were there.
func (m *members) document() []byte {
	var present []member
	for i, path := range m.paths {
		if v := m.Value(i); len(v) > 0 {
			present = append(present, member{strings.Split(path, "."), v})
		}
	}
	return compose(nil, present, 0)
}

// compose appends the value that ms, whose paths agree up to level, lie in.
func compose(out []byte, ms []member, level int) []byte {
	if len(ms) == 1 && len(ms[0].path) == level {
		return append(out, ms[0].value...)
	}
	out = append(out, '{')
	for i := 0; i < len(ms); {
		part := ms[i].path[level]
		end := i + 1
		for end < len(ms) && ms[end].path[level] == part {
			end++
		}
		if part == "#" { // an array has no other members
			return append(compose(append(out[:len(out)-1], '['), ms[:end], level+1), ']')
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), part...), '"', ':')
		out = compose(out, ms[i:end], level+1)
		i = end
	}
	return append(out, '}')
}
