// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// incoming is a request's body as its client sends it: a client that sends nothing for stallTime is cut, so
// that it does not hold memory and a connection for good.
type incoming struct {
	io.Reader
	rc      *http.ResponseController
	now     func() time.Time
	limited time.Time
}

func newIncoming(w http.ResponseWriter, r *http.Request, now func() time.Time) *incoming {
	return &incoming{Reader: r.Body, rc: http.NewResponseController(w), now: now}
}

func (in *incoming) Read(p []byte) (int, error) {
	if now := in.now(); now.Sub(in.limited) >= resetStall {
		in.limited = now
		_ = in.rc.SetReadDeadline(now.Add(stallTime))
	}
	n, err := in.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		in.whole()
	}
	return n, err
}

// whole lifts the limit: the body is there, and the connection is only watched for the client's leaving.
func (in *incoming) whole() {
	if !in.limited.IsZero() {
		in.limited = time.Time{}
		_ = in.rc.SetReadDeadline(time.Time{})
	}
}

// loopbackPort is the port of a base URL on this host's loopback addresses, "" for any other.
func loopbackPort(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return ""
	}
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// callsItself finds a base URL that leads back to this gateway: one call would become endlessly many.
func (c *call) callsItself() bool {
	if c.cfg.ownPort == "" {
		return false
	}
	switch own := c.r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return c.cfg.ownPort == strconv.Itoa(own.Port)
	case net.Addr:
		_, port, err := net.SplitHostPort(own.String())
		return err == nil && port == c.cfg.ownPort
	}
	return false
}
