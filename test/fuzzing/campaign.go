// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"context"
	"io"
	"os"
	"sync"
	"time"
)

// Campaign is a run of many targets.
type Campaign struct {
	// Root is the module's folder, Corpus that of the inputs which runs found interesting: the next run begins with them.
	Root, Corpus string
	Targets      []Target
	// Each is how long a target runs; Jobs how many at once; Workers how many processes each of them has.
	Each          time.Duration
	Jobs, Workers int
	// Own has the engine guided by the code of the project alone: all that it uses, Kubernetes and SDKs among it, is built as
	// for any test then, and not once more.
	Own bool
	// Seed is where the engine's mutations begin, as far as the clock allows the same ones each time; 0 is elsewhere each time.
	Seed int
	// KeepGoing runs all targets, whatever is found.
	KeepGoing bool
	Out       io.Writer

	work string
	// stand makes what stands for a package's test, in tests of this package.
	stand func(ctx context.Context, dir string) error
	mu    sync.Mutex
}

// Run builds and runs all, and returns whether nothing was found. Everything is said on Out.
func (c *Campaign) Run(ctx context.Context) (clean bool, err error) {
	if c.work, err = os.MkdirTemp("", "fuzz"); err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(c.work) }()
	began := time.Now()
	broken := c.build(ctx)
	c.sayBuilt(broken, time.Since(began))
	if len(broken) > 0 && !c.KeepGoing {
		return false, ctx.Err()
	}
	results := c.all(ctx, broken)
	for i := range results {
		c.starved(ctx, &results[i])
	}
	c.summary(results, broken)
	for i := range results {
		if results[i].verdict == found {
			return false, ctx.Err()
		}
	}
	return len(broken) == 0 && len(results) > 0 && ctx.Err() == nil, ctx.Err()
}

// all runs the targets whose test was built, and leaves out those after a finding unless it is to keep going.
func (c *Campaign) all(ctx context.Context, broken map[string]error) (results []result) {
	ended := false
	each(c.Jobs, len(c.Targets), func(i int) {
		c.mu.Lock()
		skip := ended || broken[c.Targets[i].Dir] != nil || ctx.Err() != nil
		c.mu.Unlock()
		if skip {
			return
		}
		r := c.fuzz(ctx, c.Targets[i], c.Each)
		c.mu.Lock()
		defer c.mu.Unlock()
		ended = ended || r.verdict == found && !c.KeepGoing
		results = append(results, r)
		c.say(r)
	})
	return results
}

// starved gives a target that tried nothing new beside the others more time, by itself; if that helps it no more, it fails.
func (c *Campaign) starved(ctx context.Context, r *result) {
	for _, longer := range []time.Duration{2 * c.Each, 6 * c.Each} {
		if r.verdict == found || r.beyond() > 0 || ctx.Err() != nil {
			return
		}
		*r = c.fuzz(ctx, r.Target, max(longer, time.Second))
		c.say(*r)
	}
	if r.verdict != found && r.beyond() == 0 && ctx.Err() == nil {
		r.verdict, r.why = found, "executed nothing beyond its corpus"
		c.say(*r)
	}
}

// each calls do with 0 to n-1, so many at once.
func each(jobs, n int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(min(jobs, n), 1) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
