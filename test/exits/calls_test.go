// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package exits

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// caller makes the calls of all rows.
type caller struct {
	t      *testing.T
	url    string
	client *http.Client
	// said is what came to clients that got no status of their row's, the first time for each row.
	said sync.Map
}

func newCaller(t *testing.T, url string) *caller {
	t.Helper()
	return &caller{t: t, url: url, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 4000},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// end makes one call of a row, and returns the status that its client got; 0 if none, or if the answer was cut.
func (c *caller) end(r *row) int {
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	if r.leave > 0 {
		ctx = leaving(ctx, r, cancel)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/"+r.name+"/v1/messages", c.body(ctx, r))
	if err != nil {
		c.t.Error(err)
		return -1
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", appKey)
	// A connection that was made for another call and never used is closed by the gateway after a while, and a busy client may
	// choose it before it hears of that. An empty list has net/http try once more there, and is not sent.
	req.Header["Idempotency-Key"] = []string{}
	for i := 0; i < len(r.headers); i += 2 {
		req.Header.Set(r.headers[i], r.headers[i+1])
	}
	resp, err := c.client.Do(req)
	if err != nil {
		c.note(r, 0, err)
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	if r.midway {
		_, _ = io.ReadFull(resp.Body, make([]byte, 1))
		cancel()
	}
	var body bytes.Buffer
	if _, err := io.Copy(&body, resp.Body); err != nil {
		c.note(r, 0, err)
		return 0
	}
	c.note(r, resp.StatusCode, &body)
	return resp.StatusCode
}

// note keeps what a client got that it should not have got.
func (c *caller) note(r *row, status int, got any) {
	if !slices.Contains(r.statuses, status) {
		c.said.LoadOrStore(r.name, fmt.Sprintf("%.500s", fmt.Sprint(got)))
	}
}

// leaving has the client leave some time after its request is on its way: one that was not sent ends nowhere.
func leaving(ctx context.Context, r *row, cancel func()) context.Context {
	later := func() { time.AfterFunc(r.leave, cancel) }
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { later() }}
	if r.unsent {
		trace = &httptrace.ClientTrace{WroteHeaders: later}
	}
	return httptrace.WithClientTrace(ctx, trace)
}

// body names the row as the model, by which the provider knows what to play.
func (c *caller) body(ctx context.Context, r *row) io.Reader {
	text := fmt.Sprintf(`{"model":%q,"stream":%t,"max_tokens":8,"messages":[{"role":"user","content":%q}]}`, r.name, r.stream, canary.PromptMark)
	if r.unsent {
		return io.MultiReader(strings.NewReader(text[:20]), endless{ctx})
	}
	return strings.NewReader(text)
}

// endless is a body whose rest does not come.
type endless struct{ ctx context.Context } //nolint:containedctx // it reads for as long as its call

func (e endless) Read([]byte) (int, error) {
	<-e.ctx.Done()
	return 0, e.ctx.Err()
}
