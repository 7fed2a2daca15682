// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"crypto/tls"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/connections"
)

// NewHTTPServer returns a server for handlers of this package: TLS and HTTP/2 only, with bounds that let
// streams live long and nothing else. certificate is asked at each handshake, so that a rotated one counts
// at once; handshakes take turns. What is asked without a token that is verified ends soon, whoever reads or sends no more.
func NewHTTPServer(s *Server, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *http.Server {
	mux := http.NewServeMux()
	mux.Handle(s.Path(), s)
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	srv := &http.Server{
		Handler:   bounded(mux),
		Protocols: protocols,
		TLSConfig: &tls.Config{
			MinVersion:     tls.VersionTLS13,
			NextProtos:     []string{"h2"},
			GetCertificate: inTurn(certificate, handshakesAtOnce, handshakeWait),
		},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
		HTTP2: &http.HTTP2Config{
			// A gateway needs one stream; a few more for one that is being replaced.
			MaxConcurrentStreams: 8,
			// A gateway behind a dead network is found out, and its memory freed.
			SendPingTimeout: 15 * time.Second,
			PingTimeout:     15 * time.Second,
			// A report's size in windows, not the megabyte of the default: ten thousand streams have one each.
			MaxReceiveBufferPerConnection: 256 << 10,
			MaxReceiveBufferPerStream:     128 << 10,
		},
	}
	// A gateway has one, and a second while it is sent on. Those of gateways are kept; who has no token has what is left.
	connections.Limit(srv, s.opts.Bounds.Streams+s.opts.Bounds.Streams/8+handshakesAtOnce)
	return srv
}

// strangerTimeout is for a request until its token is verified, and for its answer if it never is: who reads none of it is not
// waited for.
const strangerTimeout = reviewTimeout + 5*time.Second

// bounded ends all requests in time. Who has shown whose it is gets more from there on.
func bounded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		within(http.NewResponseController(w), strangerTimeout)
		h.ServeHTTP(w, r)
	})
}

// within has the request and its answer end after a time, or never if it is zero. Over HTTP/2 it is the stream's alone.
func within(control *http.ResponseController, d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_, _ = control.SetReadDeadline(at), control.SetWriteDeadline(at)
}
