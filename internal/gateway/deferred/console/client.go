// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/headgate-dev/headgate/internal/gateway/deferred"
)

// maxListed bounds what is read of a list.
const maxListed = 64 << 20

// ErrNotRunning says that no gateway serves the socket.
var ErrNotRunning = errors.New("no gateway runs on this state directory")

// Client reaches a gateway that runs.
type Client struct{ http *http.Client }

// Dial returns a client of the gateway whose state directory is dir.
func Dial(ctx context.Context, dir string) (*Client, error) {
	path := filepath.Join(dir, socketName)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	conn, err := dial(ctx, "", "")
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, err
	}
	_ = conn.Close()
	return &Client{http: &http.Client{Timeout: timeout, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
}

// List returns the gateway's tickets.
func (c *Client) List(ctx context.Context) ([]deferred.Listed, error) {
	var out []deferred.Listed
	return out, c.do(ctx, http.MethodGet, "/tickets", func(body io.Reader) error {
		return json.NewDecoder(io.LimitReader(body, maxListed)).Decode(&out)
	})
}

// Replay tries a dead letter anew.
func (c *Client) Replay(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodPost, "/tickets/"+id+"/replay", nil)
}

// Drop removes a ticket.
func (c *Client) Drop(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/tickets/"+id, nil)
}

func (c *Client) do(ctx context.Context, method, path string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return fmt.Errorf("%s", strings.TrimSpace(string(text)))
	}
	if read == nil {
		return nil
	}
	return read(resp.Body)
}
