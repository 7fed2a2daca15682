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
// at once; handshakes take turns.
func NewHTTPServer(s *Server, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *http.Server {
	mux := http.NewServeMux()
	mux.Handle(s.Path(), s)
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	srv := &http.Server{
		Handler:   mux,
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
	// A gateway has one, and a second while it is sent on; who has no stream is nobody yet.
	connections.Limit(srv, s.opts.Bounds.Streams+s.opts.Bounds.Streams/8+handshakesAtOnce)
	return srv
}
