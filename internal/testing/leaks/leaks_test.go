// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package leaks

import (
	"testing"
	"time"
)

// tests are some that do something and end with a code.
type tests struct {
	do   func()
	code int
}

// Run implements goleak.TestingM.
func (t tests) Run() int { t.do(); return t.code }

// TestGoroutinesAreGivenTimeToEnd, longer than goleak alone gives them, and those that do not end fail the tests.
func TestGoroutinesAreGivenTimeToEnd(t *testing.T) {
	stays := make(chan struct{})
	t.Cleanup(func() { close(stays) })
	for _, tc := range []struct {
		name   string
		do     func()
		code   int
		within time.Duration
		want   int
	}{
		{"none", func() {}, 0, 0, 0},
		{"one that ends", func() { go time.Sleep(time.Second) }, 0, time.Minute, 0},
		{"tests that fail", func() {}, 2, 0, 2},
		{"one that stays", func() { go func() { <-stays }() }, 0, time.Second, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := verify(tests{tc.do, tc.code}, tc.within); got != tc.want {
				t.Errorf("the tests end with %d, want %d", got, tc.want)
			}
		})
	}
}
