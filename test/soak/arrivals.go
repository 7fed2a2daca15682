// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// provider is the simulated provider, with all arrivals of all its lives.
type provider struct {
	*program
	client *http.Client

	mu sync.Mutex
	// seen are the arrivals of this life by their number; unfinished ones are asked for again.
	seen  map[uint64]fakeprovider.Arrival
	since uint64
	past  []fakeprovider.Arrival
	lives int
	// played counts the faults of lives that are over.
	played map[fakeprovider.FaultKind]int64
}

func newProvider(dir, binary string) (*provider, error) {
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	args := []string{
		"--listen", address, "--first-byte", "30ms", "--per-token", "2ms",
		"--max-arrivals", "20000",
	}
	// The account is the policy's with room to spare, so that refusals come by script.
	for _, dialect := range []string{"Anthropic", "OpenAI"} {
		args = append(args, "--limit", fmt.Sprintf("%s:Requests=%d/1m", dialect, 2*requestsPerMinute),
			"--limit", fmt.Sprintf("%s:%s=%d/1m", dialect, budgetOf[strings.ToLower(dialect)], 2*tokensPerMinute))
	}
	p, err := newProgram(dir, "fakeprovider", binary, address, args...)
	return &provider{
		program: p, client: &http.Client{Timeout: 10 * time.Second}, seen: map[uint64]fakeprovider.Arrival{},
		played: map[fakeprovider.FaultKind]int64{},
	}, err
}

// poll takes in what has arrived.
func (p *provider) poll(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pollLocked(ctx)
}

func (p *provider) pollLocked(ctx context.Context) error {
	var list []fakeprovider.Arrival
	if err := p.do(ctx, http.MethodGet, "/_fake/arrivals?since="+strconv.FormatUint(p.since, 10), nil, &list); err != nil {
		return err
	}
	for _, a := range list {
		p.seen[a.Seq] = a
	}
	// From the first that is unfinished on, all are read again.
	for {
		a, ok := p.seen[p.since+1]
		if !ok || a.EndedUnixNano == 0 {
			return nil
		}
		p.since++
	}
}

// again restarts the provider: its buckets are full and its log is empty then.
func (p *provider) again(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.closeLocked(ctx); err != nil {
		return err
	}
	return p.restart(ctx, syscall.SIGTERM)
}

// closeLocked files what this life knows.
func (p *provider) closeLocked(ctx context.Context) error {
	if err := p.pollLocked(ctx); err != nil {
		return err
	}
	var stats fakeprovider.Stats
	if err := p.do(ctx, http.MethodGet, "/_fake/stats", nil, &stats); err != nil {
		return err
	}
	for kind, n := range stats.Faults {
		p.played[kind] += n
	}
	for _, a := range p.seen {
		p.past = append(p.past, a)
	}
	clear(p.seen)
	p.since, p.lives = 0, p.lives+1
	return nil
}

// finish returns all arrivals in the order of their times, and how often each fault was played.
func (p *provider) finish(ctx context.Context) ([]fakeprovider.Arrival, map[fakeprovider.FaultKind]int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.closeLocked(ctx)
	slices.SortFunc(p.past, func(a, b fakeprovider.Arrival) int { return int(a.TimeUnixNano - b.TimeUnixNano) })
	return p.past, p.played, err
}

// do speaks to the provider's script.
func (p *provider) do(ctx context.Context, method, path string, in, out any) error {
	body := io.Reader(http.NoBody)
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+p.address+path, body)
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("%s: %s: %s", path, resp.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}
