// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonframe

const (
	// MaxValue is the largest value that is kept.
	MaxValue = 64 << 10
	// keepBuffer is the largest buffer that outlives its value.
	keepBuffer = 4 << 10
)

// Handler is told of values.
type Handler interface {
	// Value is called for each value of at most MaxValue bytes; v is valid only during the call.
	Value(v []byte)
	// Large is called with a larger one, piece by piece.
	Large(piece []byte)
	// LargeEnd ends it.
	LargeEnd()
}

// collector puts the pieces of one value together.
type collector struct {
	kept  []byte
	large bool
}

// empty reports that no byte of a value has come.
func (c *collector) empty() bool { return len(c.kept) == 0 && !c.large }

// add takes a piece whose end has not come.
func (c *collector) add(piece []byte, h Handler) {
	if !c.large && len(c.kept)+len(piece) <= MaxValue {
		c.kept = append(c.kept, piece...)
		return
	}
	if !c.large {
		c.large = true
		h.Large(c.kept)
		c.kept = nil
	}
	h.Large(piece)
}

// end takes the last piece.
func (c *collector) end(piece []byte, h Handler) {
	if c.empty() && len(piece) <= MaxValue {
		h.Value(piece)
		return
	}
	c.add(piece, h)
	if c.large {
		c.large = false
		h.LargeEnd()
		return
	}
	h.Value(c.kept)
	if cap(c.kept) > keepBuffer {
		c.kept = nil
	}
	c.kept = c.kept[:0]
}
