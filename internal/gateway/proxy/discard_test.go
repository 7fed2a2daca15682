// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
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
