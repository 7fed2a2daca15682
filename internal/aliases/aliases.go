// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package aliases

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// Check refuses content whose documents would have more than limit bytes with their aliases written out.
func Check(content []byte, limit int64) error {
	// An alias needs an anchor.
	if !bytes.ContainsRune(content, '&') || !bytes.ContainsRune(content, '*') {
		return nil
	}
	decoder := goyaml.NewDecoder(bytes.NewReader(content))
	for {
		var document goyaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		m := measure{limit: limit, sizes: map[*goyaml.Node]int64{}}
		if limit -= m.of(&document); limit < 0 {
			return fmt.Errorf("its aliases make it larger than %d bytes", m.limit)
		}
	}
}

// measure holds the sizes of the nodes that were measured. A node that is being measured has the size of a cycle.
type measure struct {
	limit int64
	sizes map[*goyaml.Node]int64
}

// of is the size of a node written out, or something above the limit.
func (m *measure) of(n *goyaml.Node) int64 {
	if n.Kind == goyaml.AliasNode {
		n = n.Alias
	}
	if size, known := m.sizes[n]; known {
		return size
	}
	m.sizes[n] = m.limit + 1
	size := int64(len(n.Value)) + 1
	for _, child := range n.Content {
		if size += m.of(child); size > m.limit {
			break
		}
	}
	m.sizes[n] = size
	return size
}
