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
	"strings"
	"time"
)

const (
	// maxDiscard and discardTime bound what is read of a body that nobody wants: most clients look for an
	// answer only when they have sent all of theirs, and a connection closed before that takes it away.
	maxDiscard  = 128 << 20
	discardTime = 5 * time.Second
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

// discard reads on what is left of the request's body, before an answer that does not need it.
func (c *call) discard() {
	if c.body != nil && c.body.Replayable() {
		return
	}
	discardBody(c.w, c.r, c.body != nil, c.now())
}

// discardBody reads a request's body on, of which some was taken if begun. One that its client waits to be asked for is
// not on its way yet.
func discardBody(w http.ResponseWriter, r *http.Request, begun bool, now time.Time) {
	if r.ContentLength == 0 || !begun && r.Header.Get("Expect") != "" {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(now.Add(discardTime))
	_, _ = io.CopyN(io.Discard, r.Body, maxDiscard)
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
	own, ok := c.r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	_, port, err := net.SplitHostPort(own.String())
	return err == nil && port == c.cfg.ownPort
}
