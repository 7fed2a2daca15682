// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

const (
	// first and last bound the ports. The system gives those from 32768 on, unless it is told otherwise.
	first, last = 12_000, 22_000
	// second is the distance of the second port.
	second = 10_000
	// tries bound the search: nearly all ports are free.
	tries = 1000
)

var errNone = errors.New("no port is free")

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Address returns a loopback address that nothing listens on.
func Address() (string, error) {
	mu.Lock()
	defer mu.Unlock()
	for range tries {
		port := first + rand.IntN(last-first)
		if given[port] || !free(port) || !free(port+second) {
			continue
		}
		given[port] = true
		return address(port), nil
	}
	return "", errNone
}

// For is Address for a test.
func For(tb testing.TB) string {
	tb.Helper()
	at, err := Address()
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func free(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
