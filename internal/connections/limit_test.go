// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"fmt"
	"net"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

const (
	most     = 4
	stranger = "10.0.0.1"
	other    = "10.0.0.2"
)

// strangers are who holds connections, by what they send, none of whom reads anything.
var strangers = map[string]string{
	"silence":                 "",
	"half of the headers":     "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
	"a body that is not sent": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
	"an answer not read":      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"a call that lasts":       "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n",
}

// everyStranger tries each of them.
func everyStranger(t *testing.T, secure bool, try func(t *testing.T, s *server, text string)) {
	t.Helper()
	for name, text := range strangers {
		t.Run(fmt.Sprintf("%s, TLS %t", name, secure), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) { try(t, serve(t, secure), text) })
		})
	}
}

// TestWhoHoldsConnectionsKeepsNobodyOut: many that say nothing, or something and no more, or read nothing, hold as many
// connections as there may be; whoever asks is answered beside them, again and again, even from their own address.
func TestWhoHoldsConnectionsKeepsNobodyOut(t *testing.T) {
	try := func(t *testing.T, s *server, text string) {
		t.Helper()
		for range 10 * most {
			s.open(stranger, text)
		}
		for _, from := range []string{other, stranger, other, stranger} {
			if err := s.answered(s.open(from, "")); err != nil {
				t.Errorf("who asks from %s: %v", from, err)
			}
			if n := s.held(); n > most {
				t.Errorf("%d connections are held", n)
			}
			s.open(stranger, text)
		}
	}
	everyStranger(t, false, try)
	everyStranger(t, true, try)
}

// TestCallsUnderWayAreNotCut: of those that come from elsewhere none cuts a call, however many they are and whatever they do,
// nor the connection it leaves behind.
func TestCallsUnderWayAreNotCut(t *testing.T) {
	everyStranger(t, false, func(t *testing.T, s *server, text string) {
		t.Helper()
		var calls []net.Conn
		for range 2 {
			calls = append(calls, s.open(other, strangers["a call that lasts"]))
		}
		for range 10 * most {
			s.open(stranger, text)
		}
		s.free()
		for _, c := range calls {
			if err := s.reads(c); err != nil {
				t.Errorf("a call under way: %v", err)
			}
		}
		for range 10 * most {
			s.open(stranger, text)
		}
		for _, c := range calls {
			if err := s.answered(c); err != nil {
				t.Errorf("the next on its connection: %v", err)
			}
		}
	})
}

// TestTheLongestGoesFirst: of one address the one that has asked for longest where most of its connections ask, and the one that
// has been silent for longest where most are; never who has just come.
func TestTheLongestGoesFirst(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := serve(t, false)
		var calls, silent []net.Conn
		for range most {
			calls = append(calls, s.open(stranger, strangers["a call that lasts"]))
		}
		for range 10 {
			silent = append(silent, s.open(stranger, ""))
		}
		// They are even then, and who is silent only takes the place of who is.
		for i, c := range calls {
			if cut := s.isCut(c); cut != (i < most/2) {
				t.Errorf("call %d: cut %t", i, cut)
			}
		}
		for i, c := range silent {
			if cut := s.isCut(c); cut != (i < len(silent)-most/2) {
				t.Errorf("silent %d: cut %t", i, cut)
			}
		}
	})
}

// TestKeptConnectionsAreNotCut: what a handler keeps is kept until it lets go, whoever comes and from wherever; where all are
// kept, who comes is cut.
func TestKeptConnectionsAreNotCut(t *testing.T) {
	everyStranger(t, false, func(t *testing.T, s *server, text string) {
		t.Helper()
		const keep = "GET /keep HTTP/1.1\r\nHost: x\r\n\r\n"
		var kept []net.Conn
		for range most {
			kept = append(kept, s.open(stranger, keep))
			for range 3 * most {
				s.open(stranger, text)
				s.open(other, text)
			}
		}
		if !s.isCut(s.open(other, "")) {
			t.Error("one too many is there")
		}
		s.free()
		for i, c := range kept {
			if err := s.reads(c); err != nil {
				t.Errorf("number %d: %v", i, err)
			}
		}
		for range most {
			s.open(stranger, text)
		}
		// Their lines are even then.
		for i, c := range kept[:most/2] {
			if !s.isCut(c) {
				t.Errorf("number %d is still there, and kept by nobody", i)
			}
		}
	})
}
