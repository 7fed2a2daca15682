// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// mostFloor is the heap that is filled before it is collected. What a gateway of small calls holds is 3 MiB, and the
	// runtime collects at twice that: eight times a second at 1,000 calls, a twentieth of all its work.
	mostFloor = 20 * mib
	// floorPercent of the container's memory bounds it.
	floorPercent = 8
	// usual is the runtime's own GOGC.
	usual = 100
)

const (
	// restAfter is how long there must have been no call until memory is given back.
	restAfter = 30 * time.Second
	// restStep is how often that is looked at.
	restStep = 5 * time.Second
	// startedAfter is when what a start leaves is given back: certificates are parsed, and a plan.
	startedAfter = time.Second
)

// pacer lets a small heap grow to a floor before it is collected, and leaves a larger one to the runtime: GOGC alone would
// let it grow to the same multiple of what open streams hold. A gateway without calls gives back what it does not hold.
type pacer struct {
	floor uint64
	busy  func() (calls int64, last time.Time)

	mu      sync.Mutex
	percent int
	resting bool
	stopped bool
}

// pace keeps the floor until ctx ends, unless GOGC is set. limit is the container's memory, 0 if there is none; busy reports
// the calls under way and when the last one came.
func pace(ctx context.Context, limit int64, busy func() (int64, time.Time)) {
	if os.Getenv("GOGC") != "" {
		return
	}
	// It begins at rest: what a start leaves is collected as usual.
	p := &pacer{floor: floorOf(limit), busy: busy, percent: usual, resting: true}
	p.collected()
	go p.run(ctx)
}

// run looks whether the gateway rests, until ctx ends.
func (p *pacer) run(ctx context.Context) {
	defer p.stop()
	tick := time.NewTicker(restStep)
	defer tick.Stop()
	started := time.After(startedAfter)
	for {
		select {
		case <-ctx.Done():
			return
		case <-started:
			debug.FreeOSMemory()
		case now := <-tick.C:
			p.look(now)
		}
	}
}

// look gives memory back once there was no call for long, and lets the heap grow again when there is one.
func (p *pacer) look(now time.Time) {
	calls, last := p.busy()
	quiet := calls == 0 && now.Sub(last) >= restAfter
	if !p.rest(quiet) {
		return
	}
	p.adjust()
	if quiet {
		debug.FreeOSMemory()
	}
}

// rest notes whether the gateway rests, and says whether that is new.
func (p *pacer) rest(quiet bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.resting != quiet
	p.resting = quiet
	return changed
}

func (p *pacer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

// floorOf is the floor within a container's memory.
func floorOf(limit int64) uint64 {
	if limit <= 0 {
		return mostFloor
	}
	return uint64(min(mostFloor, limit/100*floorPercent))
}

// collected runs after each collection.
func (p *pacer) collected() {
	if !p.adjust() {
		return
	}
	type cycle struct{ _ *byte } // a pointer in it keeps it out of the tiny allocator, whose blocks live for others
	runtime.AddCleanup(&cycle{}, (*pacer).collected, p)
}

// adjust puts GOGC in force for what is held now; false once the pacer has stopped.
func (p *pacer) adjust() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	next := usual
	if !p.resting {
		next = p.next(held())
	}
	if next != p.percent {
		p.percent = next
		debug.SetGCPercent(next)
	}
	return true
}

// next is the GOGC with which a heap of so much, roots included, is collected at the floor. It moves in steps, since each
// change stops the world, and to no more than makes the floor of the runtime's own least heap, of 4 MiB at 100.
func (p *pacer) next(held uint64) int {
	const step, least = 50, 4 * mib
	if held == 0 || held*2 >= p.floor {
		return usual
	}
	most := p.floor * 100 / least
	return int(max(min((p.floor-held)*100/held, most)/step*step, usual))
}

// held is what the last collection kept, with the roots that the runtime counts.
func held() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	var sum uint64
	for i := range s {
		if s[i].Value.Kind() == metrics.KindUint64 {
			sum += s[i].Value.Uint64()
		}
	}
	return sum
}
