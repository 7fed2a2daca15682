// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"testing"
)

func TestAllEventsTogetherAreBounded(t *testing.T) {
	c := New()
	if c.left != MaxEvents {
		t.Errorf("%d events may happen", c.left)
	}
	c.left = 1000
	n := 0
	var again func()
	again = func() {
		n++
		c.After(0, again)
	}
	c.After(0, again)
	if err := c.Run(Start); !errors.Is(err, ErrTooMuch) || n != 1000 {
		t.Errorf("ended after %d events: %v", n, err)
	}
}
