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

// member is a value and what is left of its path.
type member struct {
	path  string
	value []byte
}

// document is a small document with the members that were there.
func (m *members) document() []byte {
	present, size := make([]member, 0, len(m.paths)), 0
	for i, path := range m.paths {
		if v := m.Value(i); len(v) > 0 {
			present, size = append(present, member{path, v}), size+len(path)+len(v)+8
		}
	}
	return compose(make([]byte, 0, size+2), present)
}

// compose appends the value that ms, whose paths agree so far, lie in.
func compose(out []byte, ms []member) []byte {
	if len(ms) == 1 && ms[0].path == "" {
		return append(out, ms[0].value...)
	}
	out = append(out, '{')
	for i := 0; i < len(ms); {
		part, end := descend(ms[i:])
		inner := ms[i : i+end]
		if part == "#" { // an array has no other members
			return append(compose(append(out[:len(out)-1], '['), inner), ']')
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), part...), '"', ':')
		out = compose(out, inner)
		i += end
	}
	return append(out, '}')
}

// descend takes the first part off the paths that share it, and says how many these are.
func descend(ms []member) (part string, n int) {
	for i := range ms {
		first, rest, _ := strings.Cut(ms[i].path, ".")
		if i > 0 && first != part {
			return part, i
		}
		part, ms[i].path = first, rest
	}
	return part, len(ms)
}
