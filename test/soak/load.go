// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// kind is a sort of calls that come again and again.
type kind struct {
	api, model    string
	perSecond     float64
	input, output int64
	// serial calls come one after the other.
	serial bool
}

// At its mean the load of a gateway is about its limits at a hundred percent, and it swings by swing.
var kinds = []kind{
	{api: "anthropic", model: "claude-sonnet-4-5", perSecond: 6.5, input: 500, output: 30},
	{api: "anthropic", model: "claude-opus-4-5", perSecond: 0.09, input: bulkTokens, output: 60},
	{api: "openai", model: "gpt-4.1", perSecond: 6, input: 450, output: 40},
	{api: "openai", model: "gpt-4.1-long", perSecond: 0.09, input: bulkTokens, output: 60},
	{api: "openai", model: quotaModel, perSecond: 1, input: 40, output: 5, serial: true},
}

const (
	swing       = 0.6
	swingPeriod = 25 * time.Second
	// atOnce bounds the calls under way of one gateway's clients.
	atOnce = 400
	// Parts of the calls that stream, leave, and state a deadline of their own, in percent.
	streamPercent   = 50
	leavePercent    = 2
	hurriedPercent  = 10
	hurriedDeadline = 2 * time.Second
	longestStay     = 700 * time.Millisecond
)

// clients are the apps beside one gateway.
type clients struct {
	s       *soak
	g       *gateway
	sdks    map[string]sdk
	http    *http.Client
	slots   chan struct{}
	group   sync.WaitGroup
	started atomic.Uint64
}

func newClients(s *soak, g *gateway) *clients {
	c := &clients{s: s, g: g, slots: make(chan struct{}, atOnce)}
	c.http = &http.Client{Transport: &attempts{
		next: &http.Transport{MaxIdleConnsPerHost: atOnce, IdleConnTimeout: 20 * time.Second}, s: s, g: g,
	}}
	base := "http://" + g.address
	c.sdks = map[string]sdk{"openai": newOpenAI(base, g.key, c.http), "anthropic": newClaude(base, g.key, c.http)}
	return c
}

// run makes calls until ctx ends, and returns when the last has ended.
func (c *clients) run(ctx context.Context) {
	var group sync.WaitGroup
	for i := range kinds {
		chance := rand.New(rand.NewPCG(c.s.o.seed, uint64(i)))
		group.Go(func() { c.repeat(ctx, &kinds[i], chance) })
	}
	group.Wait()
	c.group.Wait()
}

// repeat starts calls of one kind at random intervals, more and fewer of them as the load swings.
func (c *clients) repeat(ctx context.Context, k *kind, chance *rand.Rand) {
	began := time.Now()
	for {
		phase := 2 * math.Pi * time.Since(began).Seconds() / swingPeriod.Seconds()
		rate := k.perSecond * (1 + swing*math.Sin(phase))
		if !pause(ctx, time.Duration(chance.ExpFloat64()/rate*float64(time.Second))) {
			return
		}
		asked := c.call(k, chance)
		if k.serial {
			c.make(ctx, k.api, asked)
			continue
		}
		select {
		case c.slots <- struct{}{}:
			c.group.Go(func() {
				defer func() { <-c.slots }()
				c.make(ctx, k.api, asked)
			})
		default:
			c.s.book.skip()
		}
	}
}

func (c *clients) call(k *kind, chance *rand.Rand) *call {
	percent := func(n int) bool { return chance.IntN(100) < n }
	out := &call{
		id: fmt.Sprintf("%s-%d", c.g.name, c.started.Add(1)), model: k.model, stream: percent(streamPercent),
		input: k.input*4/5 + chance.Int64N(k.input*2/5), output: 1 + chance.Int64N(2*k.output),
	}
	if k.serial {
		return out
	}
	if percent(leavePercent) {
		out.leave = time.Duration(chance.Int64N(int64(longestStay)))
	}
	if percent(hurriedPercent) {
		out.deadline = hurriedDeadline
	}
	return out
}

// make makes a call with its SDK and judges what comes of it. The load's end ends no call.
func (c *clients) make(ctx context.Context, api string, asked *call) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if asked.leave > 0 {
		time.AfterFunc(asked.leave, cancel)
	}
	began := time.Now()
	ask := c.sdks[api].once
	if asked.stream {
		ask = c.sdks[api].stream
	}
	a := ask(ctx, asked)
	took := time.Since(began)
	outcome, wrong := judge(asked, &a, a.err != nil && ctx.Err() != nil)
	c.s.book.count(c.g.name, outcome, &a, took)
	if wrong != "" {
		c.s.book.violate("%s: call %s (%s, stream %v): %s", c.g.name, asked.id, asked.model, asked.stream, wrong)
	}
	if outcome == cut && !c.g.killedWithin(began, time.Now()) {
		c.s.book.violate("%s: call %s: connection cut, though nothing was killed: %v", c.g.name, asked.id, a.err)
	}
}

// attempts sees each request of an SDK, its retries too, and holds it to its deadline.
type attempts struct {
	next http.RoundTripper
	s    *soak
	g    *gateway
	n    atomic.Int64
}

const (
	// slack is ten times what an answer at the deadline may be late on a machine that has better to do.
	slack = 10 * time.Second
	// longestAnswer is the most a body takes after its head.
	longestAnswer = 120*(2*time.Millisecond+slowestChunk) + slack
)

// RoundTrip implements http.RoundTripper.
func (t *attempts) RoundTrip(r *http.Request) (*http.Response, error) {
	t.n.Add(1)
	began, deadline := time.Now(), longestDeadline
	if stated, err := time.ParseDuration(r.Header.Get(headerDeadline)); err == nil {
		deadline = stated
	}
	resp, err := t.next.RoundTrip(r)
	if took := time.Since(began); took > deadline+slowestFirst+slack {
		t.s.book.violate("%s: %s was answered after %s, its deadline is %s", t.g.name, r.Header.Get(headerID), took, deadline)
	}
	if err == nil {
		resp.Body = &timed{resp.Body, time.Now(), t, r.Header.Get(headerID)}
	}
	return resp, err
}

// timed is a body that has to end in time.
type timed struct {
	io.ReadCloser
	began time.Time
	t     *attempts
	id    string
}

// Close implements io.Closer.
func (b *timed) Close() error {
	if took := time.Since(b.began); took > longestAnswer {
		b.t.s.book.violate("%s: the body of %s took %s", b.t.g.name, b.id, took)
	}
	return b.ReadCloser.Close()
}
