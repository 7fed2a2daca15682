// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package callback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/upstream"
)

const (
	// deliveryTimeout bounds one delivery, from dialling to the answer's status.
	deliveryTimeout = 30 * time.Second
	dialTimeout     = 10 * time.Second
	idlePerHost     = 2
)

// Headers of a delivery.
const (
	HeaderTicket = "Headgate-Ticket"
	HeaderState  = "Headgate-State"
	HeaderStatus = "Headgate-Status"
	HeaderReason = "Headgate-Reason"
)

// Options configure a client.
type Options struct {
	// ExtraCA is a PEM bundle trusted beside the system's.
	ExtraCA []byte
	// Resolver replaces the system's, for tests.
	Resolver *net.Resolver
	// Dial replaces the network, for tests; it bypasses the refusal of addresses.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client delivers answers. It is safe for concurrent use.
type Client struct {
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
	transport atomic.Pointer[http.Transport]
}

// New returns a client.
func New(o Options) (*Client, error) {
	c := &Client{dial: o.Dial}
	if c.dial == nil {
		c.dial = (&net.Dialer{Timeout: dialTimeout, Resolver: o.Resolver, ControlContext: control}).DialContext
	}
	return c, c.Trust(o.ExtraCA)
}

// Trust replaces the PEM bundle that is trusted beside the system's. Deliveries under way keep their connections.
func (c *Client) Trust(ca []byte) error {
	t, err := upstream.NewTransport(upstream.Options{ExtraCA: ca, Dial: c.dial})
	if err != nil {
		return err
	}
	// A proxy would look names up itself, and dial what it finds.
	t.Proxy = nil
	t.MaxIdleConnsPerHost = idlePerHost
	if old := c.transport.Swap(t); old != nil {
		old.CloseIdleConnections()
	}
	return nil
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.Load().CloseIdleConnections() }

// Delivery is what is delivered.
type Delivery struct {
	URL string
	// Ticket and State say what it is about, Reason why there is no answer.
	Ticket, State, Reason string
	// Status, ContentType and Body are the answer's.
	Status      int
	ContentType string
	Body        []byte
}

// ErrNotTaken says that the callback's host answered, and not with a success.
var ErrNotTaken = errors.New("the callback did not take it")

// Deliver makes one attempt. hosts are the policy's of today. Its error tells nothing of the URL but its host.
func (c *Client) Deliver(ctx context.Context, d *Delivery, hosts []string) error {
	if err := Check(d.URL, hosts); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		return errors.New("it is no URL")
	}
	d.head(req.Header)
	// The transport is used without a client: redirects are not followed.
	resp, err := c.transport.Load().RoundTrip(req)
	if err != nil {
		return quiet{err}
	}
	_ = resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%w: status %d", ErrNotTaken, resp.StatusCode)
	}
	return nil
}

func (d *Delivery) head(h http.Header) {
	h.Set("User-Agent", "headgate")
	h.Set(HeaderTicket, d.Ticket)
	h.Set(HeaderState, d.State)
	if d.Reason != "" {
		h.Set(HeaderReason, d.Reason)
	}
	if d.Status != 0 {
		h.Set(HeaderStatus, strconv.Itoa(d.Status))
	}
	if d.ContentType != "" {
		h.Set("Content-Type", d.ContentType)
	}
}

// quiet is an error whose text has neither the URL, whose query may hold a secret of the caller's, nor what the callback's
// host said: it was sent the answer.
type quiet struct{ error }

func (q quiet) Error() string { return upstream.Spoken(q.error) }
func (q quiet) Unwrap() error { return q.error }
