// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// streamed opens so many streams at once and measures the delay of each chunk.
func streamed(ctx context.Context, p *process, streams, chunks int, every time.Duration) measured {
	var mu sync.Mutex
	var delays []time.Duration
	fail := &firstError{}
	before, err := p.cpu()
	fail.set(err)
	began := time.Now()
	var group sync.WaitGroup
	for i := range streams {
		group.Go(func() {
			phase := every * time.Duration(i) / time.Duration(streams) // so that chunks come one by one
			time.Sleep(phase)
			c, err := dial(p.address)
			if err != nil {
				fail.set(err)
				return
			}
			defer c.close()
			var mine []time.Duration
			fail.set(c.stream(streamRequest(p, chunks, every, phase), func(d time.Duration) { mine = append(mine, d) }))
			mu.Lock()
			defer mu.Unlock()
			delays = append(delays, mine...)
		})
	}
	group.Wait()
	fail.set(ctx.Err())
	if fail.get() == nil && len(delays) != streams*chunks {
		fail.set(fmt.Errorf("%d chunks of %d arrived", len(delays), streams*chunks))
	}
	slices.Sort(delays)
	return summarise(p, delays, before, time.Since(began), fail)
}

func streamRequest(p *process, chunks int, every, phase time.Duration) []byte {
	body := `{"model":"gpt-4.1","stream":true,"max_tokens":120,"messages":[{"role":"user","content":"hello"}]}`
	return request(p, body, fmt.Sprintf("X-Bench-Stream: %d %d %d\r\n", every.Microseconds(), chunks, phase.Microseconds()))
}

// slowStreams is how many slow streams are held open to see what each costs in memory.
const slowStreams = 1_000

// memoryPerStream opens slow streams and returns the resident memory idle, what each stream adds, and what all of them cost
// of a core while they are open.
func memoryPerStream(ctx context.Context, p *process) (idle, perStream int64, busy float64, err error) {
	if idle, err = p.rss(); err != nil {
		return 0, 0, 0, err
	}
	const chunks, every = 6, time.Second
	done := make(chan measured, 1)
	go func() { done <- streamed(ctx, p, slowStreams, chunks, every) }()
	time.Sleep(2*every + every/2) // all are open
	before, errBefore := p.cpu()
	began := time.Now()
	time.Sleep((chunks - 3) * every) // none has ended
	after, errAfter := p.cpu()
	busy = (after - before).Seconds() / time.Since(began).Seconds()
	open, err := p.rss()
	m := <-done
	return idle, (open - idle) / slowStreams, busy, errors.Join(err, errBefore, errAfter, m.failed)
}
