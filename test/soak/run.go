// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

// soak is one run.
type soak struct {
	o        *options
	dir      string
	provider *provider
	gateways []*gateway
	book     *book
	client   *http.Client
	// rest is what each gateway was like before the load.
	rest map[string]sample
}

func run(ctx context.Context, o *options) error {
	s := &soak{
		o: o, dir: o.keep, book: newBook(), rest: map[string]sample{},
		client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "headgate-soak-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		s.dir = dir
	} else if err := os.MkdirAll(s.dir, 0o750); err != nil {
		return err
	}
	defer s.stop()
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	s.checkRest(ctx)
	return s.conclude(ctx)
}

// begin starts the provider and the gateways, and sees what they are like at rest.
func (s *soak) begin(ctx context.Context) (err error) {
	if s.provider, err = newProvider(s.dir, s.o.fakeprovider); err != nil {
		return err
	}
	if err := s.provider.start(); err != nil {
		return err
	}
	for _, name := range []string{"steady", "mortal"} {
		g, err := newGateway(s, name, name == "mortal")
		if err != nil {
			return err
		}
		s.gateways = append(s.gateways, g)
		if err := g.start(); err != nil {
			return err
		}
		if !pause(ctx, time.Second) {
			return ctx.Err()
		}
		if s.rest[name], err = g.take(ctx, s.client); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) stop() {
	for _, g := range s.gateways {
		g.end(syscall.SIGKILL)
	}
	if s.provider != nil {
		s.provider.end(syscall.SIGKILL)
	}
}

// Times between what happens, within bounds at a length of the run.
func (s *soak) every(part int, least, most time.Duration) time.Duration {
	return max(least, min(most, s.o.duration/time.Duration(part)))
}

// load runs everything that happens for as long as the run is to last, and until the last call has ended.
func (s *soak) load(ctx context.Context) error {
	loaded, stop := context.WithTimeout(ctx, s.o.duration)
	defer stop()
	var calls, others sync.WaitGroup
	var all []*clients
	for _, g := range s.gateways {
		c := newClients(s, g)
		all = append(all, c)
		calls.Go(func() { c.run(loaded) })
		others.Go(func() { g.watch(loaded, s) })
		others.Go(func() { s.editPolicy(loaded, g) })
		if g.mortal {
			others.Go(func() { s.again(loaded, "kill "+g.name, s.every(4, 15*time.Second, 2*time.Minute), g.kill) })
		}
	}
	others.Go(func() { s.misbehave(loaded) })
	others.Go(func() { s.collect(loaded) })
	others.Go(func() {
		s.again(loaded, "restart provider", s.every(3, 25*time.Second, 5*time.Minute), s.provider.again)
	})
	others.Go(func() { s.progress(loaded) })
	others.Wait()
	s.awaitCalls(&calls)
	for _, c := range all {
		c.http.CloseIdleConnections()
	}
	return ctx.Err()
}

// awaitCalls waits for the last calls, as long as the slowest of them may take with its SDK's retries.
func (s *soak) awaitCalls(calls *sync.WaitGroup) {
	const tries = 3
	ended := make(chan struct{})
	go func() { calls.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(tries * (longestDeadline + slowestFirst + slack + longestAnswer)):
		s.book.violate("calls have not ended")
	}
}

// again does something every so often.
func (s *soak) again(ctx context.Context, what string, every time.Duration, do func(context.Context) error) {
	for pause(ctx, every) {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.book.violate("%s: %v", what, err)
		}
	}
}

func (s *soak) editPolicy(ctx context.Context, g *gateway) {
	for turn := 0; pause(ctx, 4*time.Second); turn++ {
		if err := g.policy.next(turn); err != nil {
			s.book.violate("edit: %v", err)
		}
	}
}

func (s *soak) collect(ctx context.Context) {
	for pause(ctx, time.Second) {
		if err := s.provider.poll(ctx); err != nil && ctx.Err() == nil {
			s.book.violate("arrivals: %v", err)
		}
	}
}

func (s *soak) progress(ctx context.Context) {
	began := time.Now()
	for pause(ctx, max(10*time.Second, s.o.duration/60)) {
		s.book.mu.Lock()
		done, wrong := 0, s.book.wrongs
		for _, outcome := range outcomes {
			done += s.book.total(outcome)
		}
		s.book.mu.Unlock()
		fmt.Fprintf(os.Stderr, "soak: %s of %s, %d calls, %d violations\n", time.Since(began).Round(time.Second), s.o.duration, done, wrong)
	}
}
