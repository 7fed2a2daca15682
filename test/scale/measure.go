// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// moment is what is counted at one time.
type moment struct {
	at              time.Time
	cpu, own        time.Duration
	memory          float64
	up, down, spent int64
	counters        map[string]float64
	statuses        float64
}

func (c *cluster) moment(ctx context.Context, f *fleet) (m moment, err error) {
	m.at, m.up, m.down, m.spent = time.Now(), f.up.Load(), f.down.Load(), f.spent.Load()
	var errs [4]error
	m.cpu, m.memory, errs[0] = c.manager.usage()
	m.own, _, errs[1] = usage(os.Getpid())
	m.counters, errs[2] = c.manager.counters()
	m.statuses, errs[3] = c.statusWrites(ctx)
	return m, errors.Join(errs[:]...)
}

// statusWrites asks the API server how many statuses of ours were written.
func (c *cluster) statusWrites(ctx context.Context) (n float64, err error) {
	config := c.env.Config
	raw, err := get(ctx, config, "/metrics")
	if err != nil {
		return 0, err
	}
	all, err := parseMetrics(strings.NewReader(raw))
	for series, v := range all {
		if strings.HasPrefix(series, "apiserver_request_total{") && strings.Contains(series, `group="headgate.dev"`) &&
			strings.Contains(series, `subresource="status"`) {
			n += v
		}
	}
	return n, err
}

// measure grows the fleet to n, watches it, edits a policy of each namespace, and says what that took.
func measure(ctx context.Context, c *cluster, f *fleet, n int) (row, error) {
	r := row{gateways: n}
	s := f.settings
	perMinute := int64(float64(n) * s.perSecond * s.tokens * 60 / s.shortage)
	if err := c.budget(ctx, s, perMinute, n); err != nil {
		return r, err
	}
	joining := time.Now()
	if err := f.grow(ctx, n); err != nil {
		return r, err
	}
	if err := wait(ctx, 4*time.Minute, "all gateways to be granted something", func() error {
		if got := f.leased(); got < n {
			return fmt.Errorf("%d of %d are", got, n)
		}
		return nil
	}); err != nil {
		return r, err
	}
	r.joined = time.Since(joining)
	if !pause(ctx, s.window/3) { // until statuses say what there is
		return r, ctx.Err()
	}
	if err := r.watch(ctx, c, f); err != nil {
		return r, err
	}
	r.rate = float64(perMinute) / 60
	return r, r.edit(ctx, c, f)
}

// watch counts for a window.
func (r *row) watch(ctx context.Context, c *cluster, f *fleet) error {
	before, err := c.moment(ctx, f)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.answered = f.answered[:0]
	f.mu.Unlock()
	if !pause(ctx, f.settings.window) {
		return ctx.Err()
	}
	after, err := c.moment(ctx, f)
	if err != nil {
		return err
	}
	f.mu.Lock()
	r.answers(f.answered)
	f.mu.Unlock()
	r.between(before, after)
	return nil
}

func (r *row) answers(all []time.Duration) {
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	r.grants = len(all)
	r.median, r.p99 = all[len(all)/2], all[len(all)*99/100]
}

func (r *row) between(before, after moment) {
	seconds := after.at.Sub(before.at).Seconds()
	each := seconds * float64(r.gateways)
	r.cpu, r.own = (after.cpu-before.cpu).Seconds()/seconds, (after.own-before.own).Seconds()/seconds
	r.memory = after.memory
	r.up, r.down = float64(after.up-before.up)/each, float64(after.down-before.down)/each
	r.spent = float64(after.spent-before.spent) / seconds
	r.statuses = (after.statuses - before.statuses) / seconds * 3600
	count := func(name string) float64 { return after.counters[name] - before.counters[name] }
	r.granting = count("headgate_coordinator_batch_seconds_total") / seconds
	r.draws = count("headgate_coordinator_draws_total") / seconds
	for _, outcome := range []string{"done", "failed"} {
		r.states += count(fmt.Sprintf("headgate_coordinator_state_writes_total{outcome=%q", outcome)) / seconds * 3600
	}
}

// edit changes every namespace's policy, and waits until each gateway has said that it runs the change.
func (r *row) edit(ctx context.Context, c *cluster, f *fleet) error {
	f.mu.Lock()
	f.acknowledged = f.acknowledged[:0]
	f.mu.Unlock()
	began := time.Now()
	for i := range f.settings.namespaces {
		if err := c.policy(ctx, i, 900_000+int64(r.gateways)); err != nil {
			return err
		}
	}
	err := wait(ctx, 2*time.Minute, "the edit to be acknowledged by all", func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := len(f.acknowledged); got < r.gateways {
			return fmt.Errorf("by %d of %d", got, r.gateways)
		}
		r.edited = slices.MaxFunc(f.acknowledged, time.Time.Compare).Sub(began)
		return nil
	})
	return err
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
