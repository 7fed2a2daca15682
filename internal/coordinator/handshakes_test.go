// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHandshakesTakeTurns: as many as arrive at once are served one after another, those that fail give their turn up,
// and those that would wait too long are sent away before anything is signed for them.
func TestHandshakesTakeTurns(t *testing.T) {
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	pair := other.TLS.Certificates[0]
	var now, most atomic.Int64
	config := func(wait, took time.Duration, signed *atomic.Int64) *tls.Config {
		return &tls.Config{
			MinVersion: tls.VersionTLS13,
			GetCertificate: inTurn(func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				signed.Add(1)
				time.Sleep(took)
				return &pair, nil
			}, 2, wait),
		}
	}
	connect := func(server *tls.Config, trusts bool) error {
		ours, theirs := net.Pipe()
		defer func() { _ = ours.Close() }()
		go func() {
			c := tls.Server(theirs, server)
			_ = c.Handshake()
			_ = c.Close()
		}()
		return tls.Client(ours, &tls.Config{InsecureSkipVerify: trusts, ServerName: "x"}).Handshake()
	}
	all := func(n int, server *tls.Config, trusts bool) (failed int) {
		var done sync.WaitGroup
		errs := make(chan error, n)
		for range n {
			done.Go(func() { errs <- connect(server, trusts) })
		}
		done.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				failed++
			}
		}
		return failed
	}
	patient := config(time.Minute, 5*time.Millisecond, new(atomic.Int64))
	if failed := all(20, patient, false); failed != 20 {
		t.Errorf("%d of 20 clients that trust nobody failed", failed)
	}
	if failed := all(20, patient, true); failed != 0 || most.Load() > 2 {
		t.Errorf("%d of 20 failed, %d at once: those before had given up their turns", failed, most.Load())
	}
	stalled := config(time.Minute, 0, new(atomic.Int64))
	for range 4 {
		// It has said hello, and reads nothing of the answer.
		ours, theirs := net.Pipe()
		defer func() { _ = ours.Close() }()
		go func() {
			_ = tls.Server(theirs, stalled).Handshake()
			_ = theirs.Close()
		}()
		go func() { _ = tls.Client(halfOpen{ours}, &tls.Config{ServerName: "x"}).Handshake() }()
	}
	if failed := all(4, stalled, true); failed != 0 {
		t.Errorf("%d of 4 failed behind peers that stall", failed)
	}
	// Its own count: those that stall may still be signed for.
	var signed atomic.Int64
	hasty := config(time.Millisecond, 500*time.Millisecond, &signed)
	if failed := all(20, hasty, true); int64(failed)+signed.Load() != 20 || failed == 0 {
		t.Errorf("%d were sent away, %d were signed for", failed, signed.Load())
	}
}

// halfOpen is a connection whose answers are lost.
type halfOpen struct{ net.Conn }

// Read implements net.Conn.
func (halfOpen) Read([]byte) (int, error) { select {} }
