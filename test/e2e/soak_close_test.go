// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// guard is the part of a burst that the pools stay inside of, as docs/design/sharing.md says.
const guard = 0.05

// dust is what sums of fractions may be off by.
const dust = 1e-6

// closing is what the books said at the end, at rest.
type closing struct {
	// waiters and reserved are what was left at rest, over all gateways and the leader.
	waiters, reserved float64
	restAfter         time.Duration
	full              []level
	fullAfter         time.Duration
	// used is what the gateways charged in a last load without faults, arrived what the provider counted of it.
	used, arrived map[string]float64
	calls         load.Result
}

// level is what a limit of the account had at rest, and what it should have.
type level struct {
	name      string
	got, want float64
}

// close brings everything to rest, and compares what the ledger, the gateways and the provider say.
func (s *soak) close(t *testing.T) {
	t.Helper()
	if s.edits[len(s.edits)-1].Percent != 100 {
		for s.turn%4 != 2 {
			s.turn++
		}
		s.edit(t)
	}
	s.within(t.Context(), truthWithin, "status at the end", s.statusIsTrue)
	s.closing.restAfter, _ = s.within(t.Context(), time.Minute, "nothing waits at rest", s.atRest)
	s.closing.fullAfter, _ = s.within(t.Context(), 2*time.Minute, "all levels are full at rest", s.allFull)
	before, arrivedBefore := s.used(t), len(s.arrivals.list())
	pages := s.pages(t)
	s.closing.calls = s.lastLoad(t)
	s.within(t.Context(), time.Minute, "nothing waits after the last load", s.atRest)
	s.within(t.Context(), 30*time.Second, "all of the last load has arrived", func(ctx context.Context) error {
		if err := s.arrivals.poll(ctx); err != nil {
			return err
		}
		s.closing.arrived = cost(s.arrivals.list()[arrivedBefore:])
		s.closing.used = minus(s.used(t), before)
		for name, want := range s.closing.arrived {
			if got := s.closing.used[name]; math.Abs(got-want) > 0.01 {
				return fmt.Errorf("%s: gateways charged %.2f, the provider counted %.2f; %s", name, got, want, s.changed(t, pages))
			}
		}
		return nil
	})
	s.within(t.Context(), 2*time.Minute, "all levels are full again", s.allFull)
}

// lastLoad has every pod make a load when nothing happens.
func (s *soak) lastLoad(t *testing.T) load.Result {
	t.Helper()
	all, err := s.livePods(t.Context())
	if err != nil {
		s.violate("%v", err)
	}
	for i := range all {
		run := soakRuns[roleOf(all[i].Name)]
		run.Seconds = 10
		if err := load.Post(t.Context(), appURL(&all[i])+"/run", run, nil); err != nil {
			s.violate("the last load: %v", err)
		}
	}
	var out []load.Result
	for i := range all {
		out = append(out, loadEnded(t, &all[i]))
	}
	r := load.Merge(out)
	if r.OK != r.Calls || r.Calls == 0 {
		s.violate("the last load: %d of %d calls ended well: %v", r.OK, r.Calls, r.Failures)
	}
	return r
}

// cost is what arrivals cost each limit.
func cost(list []fakeprovider.Arrival) map[string]float64 {
	out := map[string]float64{}
	for i := range list {
		switch a := &list[i]; a.Dialect {
		case fakeprovider.Anthropic:
			out["anthropic/requests"]++
			out["anthropic/input-tokens"] += float64(a.InputTokens)
		case fakeprovider.OpenAI:
			out["openai/tokens"] += float64(a.InputTokens + a.AllowedTokens)
		}
	}
	return out
}

func minus(a, b map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for name := range a {
		out[name] = a[name] - b[name]
	}
	return out
}

// used adds up what all gateways charged to each limit.
func (s *soak) used(t *testing.T) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	err := s.eachGateway(t.Context(), func(m metricsText) {
		for name, label := range map[string]string{
			"anthropic/requests": s.account + ":requests", "anthropic/input-tokens": s.account + ":input-tokens", "openai/tokens": "tokens",
		} {
			out[name] += m.sum("headgate_limit_used_total", `limit="`+label+`"`)
		}
	})
	if err != nil {
		s.violate("used: %v", err)
	}
	return out
}

// pages are the metrics of all gateways, one after another.
func (s *soak) pages(t *testing.T) (out []metricsText) {
	t.Helper()
	if err := s.eachGateway(t.Context(), func(m metricsText) { out = append(out, m) }); err != nil {
		s.violate("%v", err)
	}
	return out
}

// changed says what the gateways counted since, of what may explain a difference.
func (s *soak) changed(t *testing.T, before []metricsText) string {
	t.Helper()
	var out []string
	for i, now := range s.pages(t) {
		for row, v := range now {
			name, _, _ := strings.Cut(row, "{")
			switch name {
			case "headgate_limit_used_total", "headgate_tokens_total", "headgate_estimated_settlements_total", "headgate_upstream_sends_total",
				"headgate_truncated_streams_total", "headgate_calls_total":
				if d := v - before[min(i, len(before)-1)][row]; d != 0 {
					out = append(out, fmt.Sprintf("gateway %d: %s +%v", i, row, d))
				}
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// atRest holds when no call waits, holds anything or was asked for.
func (s *soak) atRest(ctx context.Context) error {
	var waiters, reserved float64
	count := func(m metricsText) {
		waiters += m.sum("headgate_queue_depth") + m.sum("headgate_limit_waiting") + m.sum("headgate_pool_waiting")
		reserved += m.sum("headgate_reserved")
	}
	if err := s.eachGateway(ctx, count); err != nil {
		return err
	}
	leader, err := s.leaderMetrics(ctx)
	if err != nil {
		return err
	}
	count(leader)
	s.closing.waiters, s.closing.reserved = waiters, reserved
	if waiters > dust || reserved > dust {
		return fmt.Errorf("%v wait, %v are reserved", waiters, reserved)
	}
	return nil
}

// allFull holds when the account's pools have all that they may hold, to the token, and the provider's buckets too:
// nothing has leaked, and nothing is owed.
func (s *soak) allFull(ctx context.Context) error {
	m, err := s.leaderMetrics(ctx)
	if err != nil {
		return err
	}
	s.closing.full = nil
	for name, burst := range map[string]float64{"requests": soakRequestsBurst, "input-tokens": soakTokensBurst} {
		l := level{name: name, want: burst * (1 - guard)}
		for _, part := range []string{"headgate_pool_level", "headgate_pool_held", "headgate_pool_unknown"} {
			l.got += m.sum(part, `account="`+s.account+`"`, `limit="`+name+`"`)
		}
		s.closing.full = append(s.closing.full, l)
		if math.Abs(l.got-l.want) > 1e-3 {
			return fmt.Errorf("%s: the pool and its gateways have %.3f of %.3f", name, l.got, l.want)
		}
	}
	return s.providerFull(ctx)
}

func (s *soak) providerFull(ctx context.Context) error {
	var stats fakeprovider.Stats
	if err := get(ctx, s.arrivals.admin+"/_fake/stats", &stats); err != nil {
		return err
	}
	for _, a := range stats.Accounts {
		if a.KeyHash != fakeprovider.KeyHash(s.u.key) {
			continue
		}
		for _, b := range a.Budgets {
			if b.Level != b.Burst {
				return fmt.Errorf("the provider's %s has %.3f of %.3f", b.Budget, b.Level, b.Burst)
			}
		}
	}
	return nil
}

// metricsText is a page of metrics: values by name and labels.
type metricsText map[string]float64

func (m metricsText) sum(name string, labels ...string) (total float64) {
rows:
	for row, v := range m {
		if got, _, _ := strings.Cut(row, "{"); got != name {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(row, label) {
				continue rows
			}
		}
		total += v
	}
	return total
}

func readMetrics(ctx context.Context, url string) (metricsText, error) {
	text, err := fetch(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	out := metricsText{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || line[0] == '#' {
			continue
		}
		if v, err := strconv.ParseFloat(line[i+1:], 64); err == nil {
			out[line[:i]] = v
		}
	}
	return out, nil
}

// eachGateway reads the metrics of every pod's gateway.
func (s *soak) eachGateway(ctx context.Context, take func(metricsText)) error {
	all, err := s.livePods(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		m, err := readMetrics(ctx, "http://"+all[i].Status.PodIP+":15081/metrics")
		if err != nil {
			return err
		}
		take(m)
	}
	return nil
}

// leaderMetrics reads those of the manager that leads, of the tenant's namespace and account only.
func (s *soak) leaderMetrics(ctx context.Context) (metricsText, error) {
	name, err := leaderPod(ctx)
	if err != nil {
		return nil, err
	}
	var pod corev1.Pod
	if err := api.Get(ctx, types.NamespacedName{Namespace: systemNamespace, Name: name}, &pod); err != nil {
		return nil, err
	}
	m, err := readMetrics(ctx, "http://"+pod.Status.PodIP+":8080/metrics")
	for row := range m {
		if !strings.Contains(row, `="`+s.u.name+`"`) {
			delete(m, row)
		}
	}
	return m, err
}
