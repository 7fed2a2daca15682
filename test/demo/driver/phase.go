// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

const (
	// lead is how long before the common start the apps are told.
	lead = 2 * time.Second
	// showEvery is how often progress is shown.
	showEvery = 10 * time.Second
	// grace is how much longer than their drain apps may take to say that they are done.
	grace = 15 * time.Second
)

// phase is what a phase came to.
type phase struct {
	Name    string                 `json:"name"`
	Seconds int64                  `json:"seconds"`
	Roles   map[string]load.Result `json:"roles"`
	// Account is the budget shown, when the last call had been started; summed over keys.
	Account account `json:"account"`
	// Calls, Admitted and Throttled are what the provider saw in all.
	Calls     int64 `json:"calls"`
	Admitted  int64 `json:"admitted"`
	Throttled int64 `json:"throttled"`
}

// account is the use of a budget.
type account struct {
	Budget   string  `json:"budget"`
	Start    float64 `json:"start"`
	Refilled float64 `json:"refilled"`
	Spent    float64 `json:"spent"`
	Level    float64 `json:"level"`
}

// runPhase runs the load, and writes and prints what came of it.
func runPhase(ctx context.Context, o *options) error {
	before, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	start := time.Now().Add(lead)
	for _, a := range o.apps {
		if err := load.Post(ctx, a.url+"/run", o.run(a, start), nil); err != nil {
			return err
		}
	}
	p := phase{Name: o.name, Seconds: o.seconds}
	if err := watch(ctx, o, start, before, &p); err != nil {
		return err
	}
	if err := p.collect(ctx, o, before); err != nil {
		return err
	}
	if err := write(o.out, p); err != nil {
		return err
	}
	return render(os.Stdout, []phase{p})
}

// prepare makes the account what it is to be, and returns the provider's figures at that time.
func prepare(ctx context.Context, o *options) (fakeprovider.Stats, error) {
	var stats fakeprovider.Stats
	if o.startPercent < 0 {
		err := load.Get(ctx, o.provider+"/_fake/stats", &stats)
		return stats, err
	}
	body := map[string]any{"budget": o.budget, "percent": o.startPercent}
	err := load.Post(ctx, o.provider+"/_fake/level", body, &stats)
	return stats, err
}

// watch shows progress until every app is done; the account is read when the last call has been started.
func watch(ctx context.Context, o *options, start time.Time, before fakeprovider.Stats, p *phase) error {
	end := start.Add(time.Duration(o.seconds) * time.Second)
	deadline := end.Add(time.Duration(o.drainSeconds)*time.Second + grace)
	measured := false
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	shown := start
	for time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if !measured && time.Now().After(end) {
			stats, err := statsOf(ctx, o)
			if err != nil {
				return err
			}
			p.Account, measured = accountOf(stats, before, o.budget), true
		}
		done, err := o.progress(ctx, before, time.Since(start), time.Since(shown) >= showEvery)
		if err != nil {
			return err
		}
		if time.Since(shown) >= showEvery {
			shown = time.Now()
		}
		if done && measured {
			return nil
		}
	}
	return fmt.Errorf("the apps are not done %v after the last call", grace+time.Duration(o.drainSeconds)*time.Second)
}

func statsOf(ctx context.Context, o *options) (fakeprovider.Stats, error) {
	var stats fakeprovider.Stats
	err := load.Get(ctx, o.provider+"/_fake/stats", &stats)
	return stats, err
}

// progress says whether all apps are done, and shows how far they are.
func (o *options) progress(ctx context.Context, before fakeprovider.Stats, since time.Duration, show bool) (bool, error) {
	roles, err := o.results(ctx)
	if err != nil {
		return false, err
	}
	done := true
	for _, r := range roles {
		done = done && r.State == load.Done
	}
	if !show && !done {
		return false, nil
	}
	stats, err := statsOf(ctx, o)
	if err != nil {
		return false, err
	}
	fmt.Printf("  %4.0fs", since.Seconds())
	for _, role := range o.roles() {
		r := roles[role]
		fmt.Printf("  %s: %d of %d done, %d waiting, %d failed", role, r.OK, r.Calls, r.InFlight, r.FailedCalls())
	}
	fmt.Printf("  provider: %d 429s\n", stats.Throttled-before.Throttled)
	return done, nil
}

// roles are the roles of the apps, each once, in the order given.
func (o *options) roles() []string {
	var out []string
	for _, a := range o.apps {
		if !slices.Contains(out, a.role) {
			out = append(out, a.role)
		}
	}
	return out
}

func (o *options) results(ctx context.Context) (map[string]load.Result, error) {
	byRole := map[string][]load.Result{}
	for _, a := range o.apps {
		var r load.Result
		if err := load.Get(ctx, a.url+"/result", &r); err != nil {
			return nil, err
		}
		byRole[a.role] = append(byRole[a.role], r)
	}
	out := map[string]load.Result{}
	for role, results := range byRole {
		out[role] = load.Merge(results)
		r := out[role]
		r.Role = role
		out[role] = r
	}
	return out, nil
}

func (p *phase) collect(ctx context.Context, o *options, before fakeprovider.Stats) error {
	roles, err := o.results(ctx)
	if err != nil {
		return err
	}
	stats, err := statsOf(ctx, o)
	if err != nil {
		return err
	}
	p.Roles = roles
	p.Calls, p.Admitted = stats.Calls-before.Calls, stats.Admitted-before.Admitted
	p.Throttled = stats.Throttled - before.Throttled
	return nil
}

// accountOf sums a budget over all keys and models, as it changed since before.
func accountOf(stats, before fakeprovider.Stats, budget string) account {
	then := budgetsOf(before, budget)
	out := account{Budget: budget}
	for id, b := range budgetsOf(stats, budget) {
		start := b.StartLevel // of a key seen for the first time
		if was, ok := then[id]; ok {
			start = was.Level
			b.Refilled, b.Spent = b.Refilled-was.Refilled, b.Spent-was.Spent
		}
		out.Start, out.Refilled = out.Start+start, out.Refilled+b.Refilled
		out.Spent, out.Level = out.Spent+b.Spent, out.Level+b.Level
	}
	return out
}

// budgetsOf are the figures of a budget by key and model group.
func budgetsOf(s fakeprovider.Stats, budget string) map[string]fakeprovider.BudgetStats {
	out := map[string]fakeprovider.BudgetStats{}
	for _, a := range s.Accounts {
		for _, b := range a.Budgets {
			if string(b.Budget) == budget {
				out[string(a.Dialect)+"/"+a.KeyHash+"/"+a.Group] = b
			}
		}
	}
	return out
}

func write(path string, p phase) error {
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
