// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// soakArrivals gathers what arrives at the provider over all its lives. What arrived within the last look before a
// kill is lost with it: then less is held to the limits, never more.
type soakArrivals struct {
	s     *soak
	admin string

	mu    sync.Mutex
	all   []fakeprovider.Arrival
	since uint64
	lives int
}

func newSoakArrivals(s *soak) *soakArrivals { return &soakArrivals{s: s, lives: 1} }

func (a *soakArrivals) run(ctx context.Context) {
	every(ctx, 500*time.Millisecond, func(ctx context.Context) { _ = a.poll(ctx) }) // a provider that is dead is asked again
}

// poll takes in what has arrived since.
func (a *soakArrivals) poll(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pollLocked(ctx)
}

func (a *soakArrivals) pollLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	var list []fakeprovider.Arrival
	if err := get(ctx, fmt.Sprintf("%s/_fake/arrivals?since=%d", a.admin, a.since), &list); err != nil {
		return err
	}
	hash := fakeprovider.KeyHash(a.s.u.key)
	for i := range list {
		a.since = max(a.since, list[i].Seq)
		if list[i].KeyHash == hash {
			a.all = append(a.all, list[i])
		}
	}
	return nil
}

// nextLife looks once more, and then lets the provider be killed.
func (a *soakArrivals) nextLife(ctx context.Context, kill func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.pollLocked(ctx) // as good as it goes
	kill()
	a.since, a.lives = 0, a.lives+1
}

// list is all that arrived, in the order of time.
func (a *soakArrivals) list() []fakeprovider.Arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := slices.Clone(a.all)
	slices.SortFunc(out, func(x, y fakeprovider.Arrival) int { return cmp.Compare(x.TimeUnixNano, y.TimeUnixNano) })
	return out
}
