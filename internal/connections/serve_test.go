// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/bubble"
)

// TestAnEndWaitsForNobodysGoodbye: peers that ask nothing and take nothing in would each be waited for five seconds until they take
// a goodbye, one after the other; so would who asks, and takes in none of what he is told. Nobody who does take it is cut before.
func TestAnEndWaitsForNobodysGoodbye(t *testing.T) {
	const most, drain = 20, 2 * time.Second
	for name, says := range map[string]string{"who asks nothing": "", "who takes no answer in": strangers["an answer not read"]} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s, done := serveTLS(t, ctx, drain)
				for range most {
					c := s.open(stranger, "")
					if err := s.answered(c); err != nil {
						t.Fatal(err)
					}
					_, _ = io.WriteString(c, says)
				}
				synctest.Wait() // who would still do something waits for a lock then, and simulated time for him
				began := time.Now()
				cancel()
				if err := <-done; err != nil || time.Since(began) != drain {
					t.Errorf("the server ends after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestAnEndLetsCallsEnd: nobody is cut whose call ends in time, and then nothing is waited for.
func TestAnEndLetsCallsEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, done := serveTLS(t, ctx, time.Minute)
		c := s.open(other, strangers["a call that lasts"])
		cancel()
		time.Sleep(time.Second)
		s.free()
		if err := s.reads(c); err != nil {
			t.Errorf("a call under way: %v", err)
		}
		began := time.Now()
		go func() { _, _ = io.Copy(io.Discard, c) }() // it takes the goodbye in
		if err := <-done; err != nil || time.Since(began) > time.Second {
			t.Errorf("the server ends after %s: %v", time.Since(began), err)
		}
	})
}

// serveTLS is a server in memory that ends with ctx.
func serveTLS(t *testing.T, ctx context.Context, drain time.Duration) (s *server, done <-chan error) {
	t.Helper()
	release, ended := make(chan struct{}), make(chan error, 1)
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS()
	known.Close()
	s = &server{
		t: t, conns: make(chan net.Conn), closed: make(chan struct{}), ends: map[net.Conn]*end{},
		secure: &tls.Config{InsecureSkipVerify: true}, free: func() { close(release) },
	}
	srv := &http.Server{
		// Tickets would wait for who does not read.
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: known.TLS.Certificates, SessionTicketsDisabled: true},
		ErrorLog:  log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Hour,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				<-release
			}
			_, _ = io.WriteString(w, "well\n")
		}),
	}
	go func() { ended <- ServeTLS(ctx, srv, s, drain) }()
	t.Cleanup(func() {
		for c := range s.ends {
			_ = c.Close()
		}
	})
	return s, ended
}
