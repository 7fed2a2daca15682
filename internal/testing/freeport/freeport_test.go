// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"net"
	"strconv"
	"testing"
)

func TestAddressesAreFreeAndGivenOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		at := For(t)
		_, text, err := net.SplitHostPort(at)
		port, _ := strconv.Atoi(text)
		if err != nil || port < first || port >= last || seen[at] {
			t.Fatalf("%s, again %v: %v", at, seen[at], err)
		}
		seen[at] = true
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if free(port) {
			t.Errorf("%s is taken, and is said to be free", at)
		}
		_ = l.Close()
	}
}
