// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// gateway is a gateway under test, in all its lives.
type gateway struct {
	*program
	name, key, admin string
	policy           *policy
	// mortal gateways are killed now and then.
	mortal bool

	mu sync.Mutex
	// down are the times from a kill until it served again.
	down []outage
	// samples of the gateway that lives from beginning to end.
	samples []sample
}

type outage struct{ from, to time.Time }

// sample is what a gateway was like at a time.
type sample struct {
	at                     time.Time
	rss, files, goroutines float64
	reserved, queued       float64
	oldest                 float64
	// inUse are slots of the limits on calls in flight.
	inUse float64
	// offered and ended are counters.
	offered, ended float64
	// capacity is the least of the token buckets'.
	capacity float64
}

func newGateway(s *soak, name string, mortal bool) (*gateway, error) {
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	admin, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	g := &gateway{name: name, key: "sk-soak-" + name, admin: admin, mortal: mortal}
	if g.policy, err = newPolicy(s.dir, name, s.provider.address); err != nil {
		return nil, err
	}
	g.program, err = newProgram(s.dir, "gateway-"+name, s.o.gateway, address,
		"--policy", g.policy.path, "--namespace", "default", "--listen", address, "--admin", admin, "--log-level", "info")
	return g, err
}

// graceAfter is how long after a gateway serves again a client may still find a connection of its last life.
const graceAfter = time.Second

// killedWithin says whether the gateway was down at any time between from and to.
func (g *gateway) killedWithin(from, to time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.down {
		if o.from.Before(to) && (o.to.IsZero() || o.to.Add(graceAfter).After(from)) {
			return true
		}
	}
	return false
}

// lives are the moments from which on its buckets may be full.
func (g *gateway) lives() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []time.Time
	for _, o := range g.down {
		out = append(out, o.from, o.to)
	}
	return out
}

// kill is a SIGKILL, and a new start.
func (g *gateway) kill(ctx context.Context) error {
	g.mu.Lock()
	g.down = append(g.down, outage{from: time.Now()})
	g.mu.Unlock()
	err := g.restart(ctx, syscall.SIGKILL)
	g.mu.Lock()
	g.down[len(g.down)-1].to = time.Now()
	g.mu.Unlock()
	return err
}

// take reads the gateway's figures.
func (g *gateway) take(ctx context.Context, client *http.Client) (sample, error) {
	out := sample{at: time.Now()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.admin+"/metrics", http.NoBody)
	if err != nil {
		return out, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return out, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := out.read(resp.Body); err != nil {
		return out, err
	}
	out.rss, out.files, err = g.usage()
	return out, err
}

// read reads the metrics that matter from the text format.
func (s *sample) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		space := strings.LastIndexByte(line, ' ')
		if space < 0 || line[0] == '#' {
			continue
		}
		v, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		name, labels, _ := strings.Cut(line[:space], "{")
		s.add(name, labels, v)
	}
	return lines.Err()
}

func (s *sample) add(name, labels string, v float64) {
	switch name {
	case "go_goroutines":
		s.goroutines = v
	case "headgate_reserved":
		s.reserved += v
	case "headgate_queue_depth":
		s.queued += v
	case "headgate_queue_oldest_seconds":
		s.oldest = max(s.oldest, v)
	case "headgate_calls_offered_total":
		s.offered += v
	case "headgate_calls_total":
		s.ended += v
	case "headgate_limit_capacity":
		if strings.Contains(labels, `limit="in-flight"`) {
			s.inUse += v
		} else if strings.Contains(labels, `limit="tokens"`) && (s.capacity == 0 || v < s.capacity) {
			s.capacity = v
		}
	case "headgate_limit_remaining":
		if strings.Contains(labels, `limit="in-flight"`) {
			s.inUse -= v
		}
	}
}

// watch samples the gateway every second until ctx ends. No call may wait longer than the longest deadline.
func (g *gateway) watch(ctx context.Context, s *soak) {
	for pause(ctx, time.Second) {
		began := time.Now()
		now, err := g.take(ctx, s.client)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !g.killedWithin(began, time.Now()) {
				s.book.violate("%s: its figures cannot be read: %v", g.name, err)
			}
			continue
		case now.oldest > (longestDeadline + slack).Seconds():
			s.book.violate("%s: a call has waited for %.0f s", g.name, now.oldest)
		}
		g.mu.Lock()
		g.samples = append(g.samples, now)
		g.mu.Unlock()
	}
}
