// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// What `make soak` says.
const (
	envSoak   = "HEADGATE_SOAK"        // how long, such as 30m
	envSeed   = "HEADGATE_SOAK_SEED"   // of the order of what happens; by the clock if empty
	envReport = "HEADGATE_SOAK_REPORT" // the file for the report
)

// TestSoakOnTheNode runs tenants of mixed load for as long as it is asked to, while everything that can die does,
// pods are rolled out and policies are edited, one thing after another in random order. Afterwards it holds what
// arrived at the provider to what was allowed, each failed call to what may be lost, memory to what it was, and what
// the ledger says to what was spent. The report is Markdown.
func TestSoakOnTheNode(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(envSoak))
	if err != nil || length < shortestSoak {
		t.Fatalf("%s is %q: want a duration of %s or more", envSoak, os.Getenv(envSoak), shortestSoak)
	}
	seed, err := strconv.ParseUint(os.Getenv(envSeed), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
	}
	t.Logf("%s=%d makes the same order", envSeed, seed)
	s := newSoak(t, seed, length)
	t.Cleanup(func() {
		if err := s.write(os.Getenv(envReport)); err != nil {
			t.Error(err)
		}
	})
	s.live(t)
	s.close(t)
	s.judge()
	for _, v := range s.violations() {
		t.Error(v)
	}
}

// shortestSoak is the shortest run in which each thing can happen once.
const shortestSoak = 4 * time.Minute

// live runs the load, the watchers and what happens until the time is over, and then waits for the last call.
func (s *soak) live(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s.began = time.Now()
	done := s.watch(ctx)
	for time.Since(s.began) < s.length {
		s.deal(t)
	}
	s.ended = time.Now()
	s.load.stop()
	s.load.wait(time.Minute + longestRun)
	s.arrivals.poll(ctx)
	stop()
	done()
}

// watch starts what goes on beside, and returns what waits for its end.
func (s *soak) watch(ctx context.Context) (done func()) {
	ended := make(chan struct{})
	work := []func(context.Context){s.load.run, s.arrivals.run, s.memory.run}
	for _, f := range work {
		go func() { f(ctx); ended <- struct{}{} }()
	}
	return func() {
		for range work {
			<-ended
		}
	}
}

// every does something until ctx ends.
func every(ctx context.Context, d time.Duration, do func(context.Context)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do(ctx)
		}
	}
}

// within is the other within, where it is no end of the test that something takes too long.
func (s *soak) within(ctx context.Context, limit time.Duration, what string, check func(context.Context) error) (took time.Duration, ok bool) {
	began := time.Now()
	err := errors.New("not looked at")
	for time.Since(began) < limit {
		if err = check(ctx); err == nil {
			return time.Since(began), true
		}
		time.Sleep(poll)
	}
	s.violate("%s: not within %s: %v", what, limit, err)
	return time.Since(began), false
}

func (s *soak) violate(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, time.Now().UTC().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (s *soak) violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.wrong...)
}
