// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
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

// Address returns a loopback address that nothing has or is given until this process ends.
func Address() (string, error) {
	p, err := reserve()
	return address(p.port), err
}

// For is Address for a test, with whose end the address is given back.
func For(tb testing.TB) string {
	tb.Helper()
	p, err := reserve()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.giveBack)
	return address(p.port)
}

// pair is a port and its second one, both held.
type pair struct {
	port  int
	holds [2]hold
}

func (p pair) giveBack() {
	for _, h := range p.holds {
		h.release()
	}
}

func reserve() (pair, error) {
	for range tries {
		port := first + rand.IntN(last-first)
		one, err := take(port)
		if err != nil {
			continue
		}
		two, err := take(port + second)
		if err == nil {
			return pair{port: port, holds: [2]hold{one, two}}, nil
		}
		one.release()
	}
	return pair{}, errNone
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
