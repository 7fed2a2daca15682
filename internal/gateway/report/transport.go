// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// maxToken bounds the token's file.
const maxToken = 16 << 10

var errNoToken = errors.New("the token's file is empty")

// readToken reads the bearer token; no error says what is in it.
func readToken(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's flag
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", errNoToken
	}
	return token, nil
}

var errBadURL = errors.New("the coordinator's URL is not https://host:port")

func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, errBadURL
	}
	return u, nil
}

var errNoCA = errors.New("no certificate that could verify the coordinator's is known")

// newTransport reaches target, or the URL's own host, under the name of the URL's host; it goes through no
// proxy, and trusts no other authorities than the coordinator's.
func newTransport(opts Options, u *url.URL, target string) (*http.Transport, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(opts.CA()) {
		return nil, errNoCA
	}
	dial := opts.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	return &http.Transport{
		Protocols:           protocols,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, ServerName: u.Hostname()},
		TLSHandshakeTimeout: dialTimeout,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 10 * time.Second},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if target != "" {
				address = target
			}
			return dial(ctx, network, address)
		},
	}, nil
}
