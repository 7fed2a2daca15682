// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestAddressesAreFreeAndGivenOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		at := For(t)
		port := portOf(t, at)
		if port < first || port >= last || seen[at] {
			t.Fatalf("%s, again %v", at, seen[at])
		}
		seen[at] = true
		for range 2 { // servers are killed, and come back
			l, err := net.Listen("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			_ = l.Close()
		}
	}
}

// TestWhatListensIsNotGiven: with or without a hold.
func TestWhatListensIsNotGiven(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if h, err := take(portOf(t, l.Addr().String())); err == nil {
		h.release()
		t.Errorf("%s is given, and something listens there", l.Addr())
	}
}

// TestNoTwoProcessesAreGivenAnAddress: tests of many packages run at once, and each asks while others are between being
// given an address and listening there.
func TestNoTwoProcessesAreGivenAnAddress(t *testing.T) {
	const all, each = 4, 400
	if os.Getenv("FREEPORT_ASKS") != "" {
		for range each {
			fmt.Println("at", For(t))
		}
		fmt.Println("done")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return
	}
	seen := map[string]bool{}
	for range all {
		for _, at := range asks(t) {
			if seen[at] {
				t.Errorf("%s is given twice", at)
			}
			seen[at] = true
		}
	}
	if len(seen) != all*each {
		t.Errorf("%d addresses of %d", len(seen), all*each)
	}
}

// asks starts a process that holds what it is given until this test ends.
func asks(t *testing.T) (given []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "FREEPORT_ASKS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "done"; {
		if at, is := strings.CutPrefix(lines.Text(), "at "); is {
			given = append(given, at)
		}
	}
	return given
}

func portOf(t *testing.T, at string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}
