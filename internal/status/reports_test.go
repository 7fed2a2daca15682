// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/wire"
)

// load is what one gateway of the example does in five minutes.
type load struct {
	lane                   string
	offered, sent, refused uint64
	offeredTokens, spent   float64
	queued, oldest         uint64
	// waits are counts by bucket of wire.WaitBoundsMillis, worst in milliseconds.
	waits map[int]uint64
	worst uint64
}

// The buckets of waits up to 20 s, 25 s and 30 s.
const (
	upTo20s = 12
	upTo25s = 13
	upTo30s = 14
)

// exampleLoads divide the example's calls among its gateways: ingest-0 has all bulk calls, one support pod
// is silent, and two of the others do more than the rest.
func exampleLoads(pods []Pod) map[string]load {
	out := map[string]load{}
	chat := 0
	for _, p := range pods {
		switch {
		case p.Name == "ingest-0":
			out[p.Name] = load{
				lane: "bulk", offered: 13, sent: 13, offeredTokens: 800_000, spent: 800_000, queued: 1, oldest: 14_000,
				waits: map[int]uint64{upTo20s: 6, upTo25s: 7}, worst: 23_000,
			}
		case !p.Injected || p.Unrouted != "":
		default:
			l := load{lane: "chat", offered: 83, sent: 73, refused: 10, offeredTokens: 156_555, spent: 146_667, queued: 7, oldest: 28_000, worst: 28_000}
			switch {
			case chat < 2:
				l.offered, l.sent, l.refused, l.offeredTokens, l.spent = 84, 80, 4, 197_000, 160_000
			case chat < 4:
				l.offered, l.sent, l.refused = 84, 74, 10
			case chat == 7:
				l.offered, l.refused = 82, 9
			case chat == 8:
				l = load{lane: "chat"}
			}
			l.waits = map[int]uint64{upTo30s: l.sent}
			out[p.Name] = l
			chat++
		}
	}
	return out
}

// report is the gateway's after the given part of the five minutes.
func (l load) report(step, steps uint64) *wire.Report {
	part := func(total uint64) uint64 { return total * step / steps }
	share := func(total float64) float64 { return total * float64(step) / float64(steps) }
	waits := make([]uint64, len(wire.WaitBoundsMillis)+1)
	for bucket, n := range l.waits {
		waits[bucket] = part(n)
	}
	lane := &wire.LaneReport{
		Name: l.lane, Offered: part(l.offered), Sent: part(l.sent), Queued: l.queued, OldestWaitMillis: l.oldest,
		Refused: map[string]uint64{"Deadline": part(l.refused)}, WaitBuckets: waits, WorstWaitMillis: l.worst,
	}
	route := &wire.RouteReport{
		Policy: "support", Provider: "anthropic", Generation: 7, State: "Healthy",
		Calls: part(l.sent), Sends: part(l.sent), Lanes: []*wire.LaneReport{lane},
		Limits: []*wire.LimitReport{
			{
				Name: "input-tokens", Level: 38_000. / 11, HeldForLanes: 37_333. / 11, Binding: l.queued > 0,
				Offered: share(l.offeredTokens), Spent: share(l.spent),
				ProviderKnown: l.sent > 0, ProviderRemaining: 1_900_000, ProviderLimit: 2_000_000,
			},
			{Name: "output-tokens", Level: 78_000. / 11, Spent: share(185_000. / 11)},
			{Name: "requests", Level: 3998. / 11, Spent: share(float64(l.sent))},
		},
	}
	if l.sent > 0 {
		route.LastCallUnixMillis = uint64(exampleNow.UnixMilli())
	}
	return &wire.Report{Sequence: step + 1, UptimeMillis: uint64((48 * time.Hour).Milliseconds()), Routes: []*wire.RouteReport{route}}
}

// The way from what eleven gateways report to what people read: every figure of the example.
func TestReportsBecomeTheExample(t *testing.T) {
	pods := examplePods()
	loads, store := exampleLoads(pods), figures.NewStore()
	const steps = 30
	for step := uint64(0); step <= steps; step++ {
		now := exampleNow.Add(-figures.Window).Add(time.Duration(step) * figures.Window / steps)
		for _, p := range pods {
			if !p.Injected {
				continue
			}
			l, ok := loads[p.Name]
			if !ok {
				l = load{lane: "chat"} // injected, and its app passes it by
			}
			store.Observe(figures.Pod{Namespace: "team-support", Name: p.Name, UID: p.Name}, 1, l.report(step, steps), now)
		}
	}
	in := exampleInputs()
	var known bool
	if in.Figures, known = store.Policy("team-support", "support", exampleNow); !known {
		t.Fatal("the store knows nothing of the policy")
	}
	got := Build(in, examplePrevious(), exampleNow).Status
	want := Build(exampleInputs(), examplePrevious(), exampleNow).Status
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-the design's +from reports):\n%s", diff)
	}
	if !strings.Contains(got.Conditions[4].Message, "427k/min offered") {
		t.Error(got.Conditions[4].Message)
	}
}
