// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/freeport"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// The canonical account with a small burst, the policy's and the provider's alike, so that what is not used
// in time is seen to be lost.
const (
	tokensPerMinute = 400_000
	burstTokens     = 100_000
	startPercent    = 100
	chatTokens      = 2_000
	chatProcesses   = 4
	// chatPerMinute of all processes is 1.5 times what the account allows.
	chatPerMinute = tokensPerMinute / chatTokens * 3 / 2
	bulkTokens    = 60_000
	bulkPerMinute = 4
	bulkShare     = 0.4
	// drainSeconds is how long calls may take that were started last.
	drainSeconds = 35
)

// overloadPolicy is the account's limit with a lane for bulk calls.
const overloadPolicy = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: overload, namespace: default}
spec:
  providers:
  - name: anthropic
    baseURL: http://%s
    limits:
    - {name: requests, budget: Requests, amount: 4k, per: Minute}
    - {name: input-tokens, budget: InputTokens, amount: 400k, per: Minute, burst: 100k}
    deadline: {default: 30s}
    lanes:
    - {name: bulk, match: {minInputTokens: 20k}, largestCall: 60k, reservedPercent: 40, queue: {maxDepth: 32, maxWait: 29s}}
    - {name: chat, queue: {maxDepth: 200, maxWait: 10s}}
`

// contender is one way of calling the provider, with its own account.
type contender struct {
	name     string
	provider *process
	gateway  *process // nil: straight at the provider
	chat     []*process
	bulk     *process
	chatDone load.Result
	bulkDone load.Result
	account  fakeprovider.BudgetStats
	stats    fakeprovider.Stats
}

// measureOverload runs both contenders at the same time, each on an account of its own.
func measureOverload(ctx context.Context, o *options) error {
	dir, err := os.MkdirTemp("", "headgate-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	contenders := []*contender{{name: "SDK defaults"}, {name: "gateway"}}
	defer func() {
		for _, c := range contenders {
			c.stop()
		}
	}()
	for _, c := range contenders {
		if err := c.begin(o, dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "overload: %v of 1.5 times the account from %d client processes\n", o.overload, chatProcesses)
	for _, c := range contenders {
		if err := c.run(ctx, o.overload); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if err := wait(ctx, o.overload+2*time.Second); err != nil {
		return err
	}
	for _, c := range contenders {
		if err := c.readAccount(ctx); err != nil {
			return err
		}
	}
	for _, c := range contenders {
		if err := c.collect(ctx); err != nil {
			return err
		}
	}
	return reportOverload(os.Stdout, contenders, o)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// begin starts the provider, the gateway and the clients.
func (c *contender) begin(o *options, dir string) (err error) {
	address, err := freeport.Address()
	if err != nil {
		return err
	}
	c.provider, err = start("fakeprovider", address, "", o.fakeprovider, "--listen", address, "--first-byte", "200ms",
		"--limit", "Anthropic:Requests=4000/1m", "--limit", fmt.Sprintf("Anthropic:InputTokens=%d/1m/%d", tokensPerMinute, burstTokens),
		"--start-percent", fmt.Sprint(startPercent))
	if err != nil {
		return err
	}
	if err := c.provider.waitListening(); err != nil {
		return err
	}
	base := "http://" + address
	if c.name == "gateway" {
		if c.gateway, err = o.gatewayWith(dir, fmt.Sprintf(overloadPolicy, address)); err != nil {
			return err
		}
		if err := c.gateway.waitListening(); err != nil {
			return err
		}
		base = "http://" + c.gateway.address + "/anthropic"
	}
	return c.beginClients(o, base)
}

func (c *contender) beginClients(o *options, base string) error {
	for i := range chatProcesses + 1 {
		address, err := freeport.Address()
		if err != nil {
			return err
		}
		p, err := startIn("app", address, []string{
			"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_KEY=sk-ant-bench", "OPENAI_BASE_URL=" + base + "/v1",
			"OPENAI_API_KEY=sk-bench", "HTTP_PROXY=", "http_proxy=",
		}, o.app, "--listen", address)
		if err != nil {
			return err
		}
		if i < chatProcesses {
			c.chat = append(c.chat, p)
		} else {
			c.bulk = p
		}
		if err := p.waitListening(); err != nil {
			return err
		}
	}
	return nil
}

func (c *contender) stop() {
	for _, p := range append(c.chat, c.bulk, c.gateway, c.provider) {
		if p != nil {
			p.stop()
		}
	}
}

// run sets the account's level and starts all clients at the same moment.
func (c *contender) run(ctx context.Context, length time.Duration) error {
	begin := time.Now().Add(time.Second)
	run := load.Run{
		Name: c.name, StartUnixMillis: begin.UnixMilli(), Seconds: int64(length.Seconds()), DrainSeconds: drainSeconds,
		CallsPerMinute: chatPerMinute / chatProcesses, InputTokens: chatTokens,
	}
	for _, p := range c.chat {
		if err := load.Post(ctx, "http://"+p.address+"/run", run, nil); err != nil {
			return err
		}
	}
	run.CallsPerMinute, run.InputTokens = bulkPerMinute, bulkTokens
	if err := load.Post(ctx, "http://"+c.bulk.address+"/run", run, nil); err != nil {
		return err
	}
	level := map[string]any{"budget": fakeprovider.InputTokens, "percent": startPercent}
	return load.Post(ctx, "http://"+c.provider.address+"/_fake/level", level, nil)
}

// readAccount reads how much of the allowance was used, as the last call has just been started.
func (c *contender) readAccount(ctx context.Context) error {
	if err := load.Get(ctx, "http://"+c.provider.address+"/_fake/stats", &c.stats); err != nil {
		return err
	}
	for _, a := range c.stats.Accounts {
		for _, b := range a.Budgets {
			if b.Budget == fakeprovider.InputTokens {
				c.account = b
			}
		}
	}
	return nil
}

// collect waits for the clients and merges what they say.
func (c *contender) collect(ctx context.Context) error {
	deadline := time.Now().Add((drainSeconds + 10) * time.Second)
	for {
		var chat []load.Result
		for _, p := range append(c.chat, c.bulk) {
			var r load.Result
			if err := load.Get(ctx, "http://"+p.address+"/result", &r); err != nil {
				return err
			}
			chat = append(chat, r)
		}
		if merged := load.Merge(chat); merged.State == load.Done {
			c.chatDone, c.bulkDone = load.Merge(chat[:chatProcesses]), chat[chatProcesses]
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: the clients do not end", c.name)
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	// The last calls may still have been refused.
	return load.Get(ctx, "http://"+c.provider.address+"/_fake/stats", &c.stats)
}

// failures are the kinds of failure, for the table.
func failures(r load.Result) string {
	var out []string
	for _, kind := range r.Kinds() {
		out = append(out, fmt.Sprintf("%d %s", r.Failed[kind], kind))
	}
	return strings.Join(out, ", ")
}
