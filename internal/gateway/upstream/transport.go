// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	dialTimeout  = 10 * time.Second
	tlsTimeout   = 10 * time.Second
	idleTimeout  = 90 * time.Second
	keepAlive    = 30 * time.Second
	idlePerHost  = 256
	maxHeader    = 256 << 10
	continueWait = time.Second
	// buffer holds a head with a small body, either way; larger reads and writes pass it. Each open stream
	// keeps two.
	buffer = 2 << 10
)

// Options configure a transport.
type Options struct {
	// ExtraCA is a PEM bundle trusted beside the system's; empty adds nothing.
	ExtraCA []byte
	// Dial replaces the network, for tests; it bypasses the refusal of addresses.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Proxy replaces the proxy variables of the environment, for tests.
	Proxy func(*http.Request) (*url.URL, error)
}

// ErrNoCertificates says that a CA bundle holds no certificate.
var ErrNoCertificates = errors.New("the CA bundle holds no certificate")

// NewTransport returns a transport to providers.
func NewTransport(opts Options) (*http.Transport, error) {
	roots, err := Roots(opts.ExtraCA)
	if err != nil {
		return nil, err
	}
	dial := opts.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, ControlContext: control}).DialContext
	}
	proxy := opts.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    tlsTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    idlePerHost,
		WriteBufferSize:        buffer,
		ReadBufferSize:         buffer,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  continueWait,
		MaxResponseHeaderBytes: maxHeader,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: keepAlive, PingTimeout: 15 * time.Second},
	}, nil
}

// Roots returns the system's roots with the bundle's, nil for the system's alone.
func Roots(bundle []byte) (*x509.CertPool, error) {
	if len(bundle) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		// An image without certificates still reaches what the bundle signs.
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, ErrNoCertificates
	}
	return roots, nil
}
