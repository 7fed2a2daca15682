// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// measured is what one measurement of one proxy came to.
type measured struct {
	calls  int
	took   time.Duration
	cpu    time.Duration
	p50    time.Duration
	p99    time.Duration
	failed error
}

// paced makes calls at an even rate from enough connections, and measures each.
func paced(ctx context.Context, p *process, raw []byte, perSecond int, length time.Duration) measured {
	const workers = 32
	due := make(chan struct{}, workers)
	times := make(chan []time.Duration, workers)
	fail := &firstError{}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { times <- pacedWorker(p.address, raw, due, fail) })
	}
	before, err := p.cpu()
	fail.set(err)
	began := time.Now()
	n := int(length.Seconds() * float64(perSecond))
	for i := 0; i < n && ctx.Err() == nil && fail.get() == nil; i++ {
		if wait := time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))); wait > 0 {
			time.Sleep(wait)
		}
		due <- struct{}{}
	}
	close(due)
	group.Wait()
	close(times)
	var all []time.Duration
	for t := range times {
		all = append(all, t...)
	}
	return summarise(p, all, before, time.Since(began), fail)
}

func pacedWorker(address string, raw []byte, due <-chan struct{}, fail *firstError) []time.Duration {
	c, err := dial(address)
	if err != nil {
		fail.set(err)
		for range due { // so that nobody waits for us
			continue
		}
		return nil
	}
	defer c.close()
	var times []time.Duration
	for range due {
		began := time.Now()
		if fail.get() == nil {
			fail.set(c.call(raw))
		}
		times = append(times, time.Since(began))
	}
	return times
}

// saturated makes calls from so many connections, each the next as soon as the last is answered.
func saturated(ctx context.Context, p *process, raw []byte, connections int, length time.Duration) measured {
	times := make(chan []time.Duration, connections)
	fail := &firstError{}
	before, err := p.cpu()
	fail.set(err)
	began := time.Now()
	end := began.Add(length)
	var group sync.WaitGroup
	for range connections {
		group.Go(func() {
			c, err := dial(p.address)
			if err != nil {
				fail.set(err)
				return
			}
			defer c.close()
			var mine []time.Duration
			for now := time.Now(); now.Before(end) && ctx.Err() == nil && fail.get() == nil; {
				fail.set(c.call(raw))
				after := time.Now()
				mine = append(mine, after.Sub(now))
				now = after
			}
			times <- mine
		})
	}
	group.Wait()
	close(times)
	var all []time.Duration
	for t := range times {
		all = append(all, t...)
	}
	return summarise(p, all, before, time.Since(began), fail)
}

func summarise(p *process, times []time.Duration, before, took time.Duration, fail *firstError) measured {
	after, err := p.cpu()
	fail.set(err)
	slices.Sort(times)
	m := measured{calls: len(times), took: took, cpu: after - before, failed: fail.get()}
	if len(times) > 0 {
		m.p50, m.p99 = times[len(times)/2], times[len(times)*99/100]
	}
	return m
}

// perCall is the processor time of one call.
func (m measured) perCall() time.Duration { return m.cpu / time.Duration(max(1, m.calls)) }

// perSecond is how many calls were answered a second.
func (m measured) perSecond() float64 { return float64(m.calls) / m.took.Seconds() }

// firstError keeps the first error of several goroutines.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
