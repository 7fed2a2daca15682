// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestABodyThatNobodyWantsIsTakenWhileItComes: its client, which looks for the answer only then, has it; one that stops, or
// never ends, is answered all the same, after the pause or the time that it is given.
func TestABodyThatNobodyWantsIsTakenWhileItComes(t *testing.T) {
	const chunk = 1000
	for name, tc := range map[string]struct {
		announced, sent int
		every           time.Duration
		within          [2]time.Duration
		cut             bool
	}{
		"slow and whole":    {announced: 10, sent: 10, every: 4 * time.Second, within: [2]time.Duration{36 * time.Second, 41 * time.Second}},
		"stops":             {announced: 10, sent: 5, every: time.Second, within: [2]time.Duration{8 * time.Second, 10 * time.Second}},
		"never comes to it": {announced: 1000, sent: 1000, every: time.Second, within: [2]time.Duration{discardTime, discardTime + time.Second}, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, http.NotFoundHandler(), onePolicy(openaiRoute()), func(w *world) {
				conn := w.dialled()
				defer func() { _ = conn.Close() }()
				broke := make(chan bool, 1)
				go func() {
					_, err := fmt.Fprintf(conn, "POST /nobody/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", tc.announced*chunk)
					for i := 0; i < tc.sent && err == nil; i++ {
						if i > 0 {
							time.Sleep(tc.every)
						}
						_, err = io.WriteString(conn, strings.Repeat("x", chunk))
					}
					broke <- err != nil
				}()
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				took := time.Since(w.start)
				if err != nil || resp.StatusCode != http.StatusNotFound || took < tc.within[0] || took > tc.within[1] {
					t.Errorf("after %s: %+v, %v", took, resp, err)
				}
				_ = conn.Close()
				if got := <-broke; got != tc.cut {
					t.Errorf("the body was cut: %t", got)
				}
			})
		})
	}
}

// TestBodiesThatNobodyWantsAreBounded: hundreds of clients that trickle what nobody wants hold as many connections as there may
// be, the latest; the others have their answer and are closed. One that sends all of its body has its answer beside them.
func TestBodiesThatNobodyWantsAreBounded(t *testing.T) {
	const more = 20
	simulate(t, http.NotFoundHandler(), onePolicy(openaiRoute()), func(w *world) {
		var answered [maxDiscards + more]atomic.Bool
		var all sync.WaitGroup
		ends := make(chan struct{})
		for i := range answered {
			conn := w.dialled()
			all.Go(func() { trickle(conn, ends) })
			all.Go(func() {
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				answered[i].Store(err == nil && resp.StatusCode == http.StatusNotFound && resp.Close)
				_ = conn.Close()
			})
			time.Sleep(10 * time.Millisecond) // one after another
		}
		time.Sleep(time.Second)
		for i := range answered {
			if got := answered[i].Load(); got != (i < more) {
				t.Errorf("number %d has its answer: %t", i, got)
			}
		}
		if a := w.post("/nobody/v1/chat/completions", strings.Repeat("x", 1<<20)); a.status != http.StatusNotFound {
			t.Errorf("beside them: %+v", a)
		}
		close(ends)
		all.Wait()
		synctest.Wait()
		if n := w.gateway.discards.all.Len(); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

// trickle sends a byte a second of a body that would take hours.
func trickle(conn net.Conn, ends <-chan struct{}) {
	_, err := io.WriteString(conn, "POST /nobody/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
	for err == nil {
		select {
		case <-ends:
			_ = conn.Close()
			return
		case <-time.After(time.Second):
			_, err = io.WriteString(conn, "x")
		}
	}
}
