// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"
	"time"
)

const (
	// handshakesAtOnce is how many connections sign at a time: more only take each other's time, and who waits too long
	// gives up with the work half done.
	handshakesAtOnce = 16
	// handshakeWait is how long a connection waits for its turn. It is less than gateways wait for all of a handshake, so
	// that no signature is made for one that has gone; who is sent away returns after a time that is drawn.
	handshakeWait = 5 * time.Second
	// longestTurn is many times what a signature takes.
	longestTurn = 500 * time.Millisecond
)

var errBusy = errors.New("too many gateways connect at once")

// inTurn gives each handshake its turn before its signature is made.
func inTurn(
	certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error), atOnce int, wait time.Duration,
) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	turns := make(chan struct{}, atOnce)
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case turns <- struct{}{}:
		case <-timer.C:
			return nil, errBusy
		case <-hello.Context().Done():
			return nil, hello.Context().Err()
		}
		// The context ends with the handshake, however it ends; a peer that stalls in it keeps no turn beyond the time that a
		// signature takes.
		free := sync.OnceFunc(func() { <-turns })
		held := time.AfterFunc(longestTurn, free)
		context.AfterFunc(hello.Context(), func() {
			held.Stop()
			free()
		})
		return certificate(hello)
	}
}
