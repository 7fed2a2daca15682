// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// TestFaultsOfTheStoreExceedNothing: while it is killed, stands still, forgets everything or is cut off, and after it is
// back, no interval sees more than burst and refill, no call fails for that alone, and then the limit is used again.
func TestFaultsOfTheStoreExceedNothing(t *testing.T) {
	atOnce(t)
	for name, fault := range map[string]func(f *fleet, l *link){
		"killed":  func(f *fleet, _ *link) { f.store.Kill(); time.Sleep(6 * time.Second); f.store.Run() },
		"paused":  func(f *fleet, _ *link) { f.store.Pause(); time.Sleep(6 * time.Second); f.store.Resume() },
		"flushed": func(f *fleet, _ *link) { f.store.Do("FLUSHALL") },
		"cut off": func(_ *fleet, l *link) { l.cut(true); time.Sleep(6 * time.Second); l.cut(false) },
	} {
		t.Run(name, func(t *testing.T) {
			atOnce(t)
			var l *link
			f := newFleet(t, func(s *redisserver.Server) string { l = newLink(t, s.Address); return "redis://" + l.address })
			f.join(3)
			got := f.measure(load{times: 1.5, large: true}, seconds()+8*time.Second, func() { fault(f, l) })
			f.conforms(got)
			if n := f.answered[0].Load() + f.answered[500].Load(); n > 0 {
				t.Errorf("%d calls failed", n)
			}
			if measured() == 0 {
				return
			}
			if n := f.answered[502].Load(); n > 0 {
				t.Errorf("%d calls did not reach the provider", n)
			}
			// Half of the rate is sure for 6 of 16 seconds, and as much as is there for the rest.
			if got.perSecond < 0.5*rate {
				t.Errorf("%.0f a second of %.0f", got.perSecond, rate)
			}
		})
	}
}

// link is a way to a server that can be cut.
type link struct {
	address string
	mu      sync.Mutex
	severed bool
	conns   map[net.Conn]bool
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{address: (&url.URL{Host: listener.Addr().String()}).Host, conns: map[net.Conn]bool{}}
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			ended.Go(func() { l.pass(from, to) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut(true)
		ended.Wait()
	})
	return l
}

// cut severs all connections and refuses new ones, or no longer.
func (l *link) cut(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.severed = yes
	for c := range l.conns {
		if yes {
			_ = c.Close()
		}
	}
}

// keep notes a connection; false while the link is cut.
func (l *link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = true
	return !l.severed
}

func (l *link) pass(from net.Conn, address string) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	if !l.keep(from) || !l.keep(to) {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_, _ = way[0].Close(), way[1].Close()
		})
	}
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, from)
	delete(l.conns, to)
}
