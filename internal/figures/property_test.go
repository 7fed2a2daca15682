// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	_ "github.com/headgate-dev/headgate/internal/testing/seed"
	"github.com/headgate-dev/headgate/internal/wire"
)

var start = time.Date(2026, 12, 3, 14, 0, 0, 0, time.UTC)

// delivery is one report on its way.
type delivery struct {
	pod         Pod
	incarnation uint64
	report      *wire.Report
}

// history draws what one pod reports over two incarnations, in order.
func history(t *rapid.T, name string) (runs [][]delivery) {
	pod := Pod{Namespace: "ns", Name: name, UID: "uid-" + name}
	for run := range rapid.IntRange(1, maxRuns).Draw(t, "runs") {
		incarnation := rapid.Uint64().Draw(t, "incarnation")/2*2 + uint64(run)
		r := &wire.RouteReport{
			Policy: "p", Provider: "anthropic",
			Limits: []*wire.LimitReport{{Name: "tokens"}},
			Lanes:  []*wire.LaneReport{{Name: "chat", WaitBuckets: make([]uint64, numWaits), Refused: map[string]uint64{}}},
		}
		var list []delivery
		for sequence := range rapid.IntRange(1, 6).Draw(t, "reports") {
			more(t, r)
			list = append(list, delivery{pod, incarnation, &wire.Report{
				Sequence:     uint64(sequence + 1),
				UptimeMillis: 1000, // all arrive at one instant here
				Routes:       []*wire.RouteReport{proto.CloneOf(r)},
			}})
		}
		runs = append(runs, list)
	}
	return runs
}

// more lets a route's counters grow and its levels move.
func more(t *rapid.T, r *wire.RouteReport) {
	n := func(label string) uint64 { return uint64(rapid.IntRange(0, 1000).Draw(t, label)) }
	r.Calls += n("calls")
	r.Sends += n("sends")
	r.TooManyRequests += n("429s")
	l := r.GetLimits()[0]
	l.Offered += float64(n("offered"))
	l.Spent += float64(n("spent"))
	l.Level = float64(n("level")) - 500
	lane := r.GetLanes()[0]
	lane.Offered += n("lane offered")
	lane.Sent += n("lane sent")
	lane.Queued = n("queued")
	lane.WorstWaitMillis = n("worst")
	lane.Refused["Deadline"] += n("refused")
	lane.WaitBuckets[n("bucket")%uint64(numWaits)] += n("waits")
}

func deliver(list []delivery) PolicyFigures {
	s := NewStore()
	for _, d := range list {
		s.Observe(d.pod, d.incarnation, d.report, start)
	}
	f, _ := s.Policy("ns", "p", start)
	return f
}

// disturb repeats, reorders and, if asked, loses reports, and lets some of every run come again after all
// others; a run's first to arrive comes before the next run's, since that is how the newest is known.
func disturb(runs [][]delivery, lose bool, rnd *rand.Rand) []delivery {
	var out []delivery
	for _, run := range runs {
		var batch []delivery
		for i, d := range run {
			if lose && i < len(run)-1 && rnd.Intn(2) == 0 {
				continue
			}
			for range 1 + rnd.Intn(3) {
				batch = append(batch, d)
			}
		}
		rnd.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
		out = append(out, batch...)
	}
	return append(out, late(runs, rnd)...)
}

// late repeats a few reports of any run at the very end.
func late(runs [][]delivery, rnd *rand.Rand) []delivery {
	var out []delivery
	for _, run := range runs {
		out = append(out, run[rnd.Intn(len(run))])
	}
	return out
}

// What lost, repeated, late and reordered reports leave is what all of them in order leave.
func TestLossRepetitionAndReorderingAreHarmless(t *testing.T) {
	ignore := []cmp.Option{cmp.AllowUnexported(Flow{}), cmpopts.EquateEmpty()}
	for _, lose := range []bool{false, true} {
		t.Run(fmt.Sprintf("lose=%v", lose), func(t *testing.T) {
			opts := ignore
			if lose { // the worst wait is per report; the median reads it as a bound
				opts = append(opts, cmpopts.IgnoreFields(LaneFigures{}, "WaitWorst", "WaitMedian"))
			}
			rapid.Check(t, func(t *rapid.T) {
				rnd := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
				var inOrder, disturbed []delivery
				for pod := range rapid.IntRange(1, 3).Draw(t, "pods") {
					runs := history(t, fmt.Sprintf("pod-%d", pod))
					for _, run := range runs {
						inOrder = append(inOrder, run...)
					}
					disturbed = append(disturbed, disturb(runs, lose, rnd)...)
				}
				if diff := cmp.Diff(deliver(inOrder), deliver(disturbed), opts...); diff != "" {
					t.Fatalf("figures differ (-in order +disturbed):\n%s", diff)
				}
			})
		})
	}
}

// The counts are the sum of the largest counters of every incarnation.
func TestCountsAreTheSumOverIncarnations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []delivery
		var sends uint64
		var spent float64
		for pod := range rapid.IntRange(1, 4).Draw(t, "pods") {
			for _, run := range history(t, fmt.Sprintf("pod-%d", pod)) {
				last := run[len(run)-1].report.GetRoutes()[0]
				sends += last.GetSends()
				spent += last.GetLimits()[0].GetSpent()
				all = append(all, run...)
			}
		}
		f := deliver(all)
		if got := f.Providers[0].Sends; got != int64(sends) {
			t.Fatalf("sends %d, want %d", got, sends)
		}
		if got := f.Limits[0].Used.Recent(); got != spent {
			t.Fatalf("used %v, want %v", got, spent)
		}
	})
}

// Numbers no gateway can mean leave every figure finite and not negative.
func TestAbsurdNumbersStayFinite(t *testing.T) {
	absurd := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -math.MaxFloat64, math.MaxFloat64, 0, 5})
	huge := rapid.SampledFrom([]uint64{0, 1, math.MaxInt64, math.MaxUint64, 1 << 53})
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore()
		for i := range 20 {
			s.Observe(Pod{"ns", fmt.Sprint("pod", i%3), "u"}, uint64(i%4), &wire.Report{
				Sequence: huge.Draw(t, "sequence"), UptimeMillis: huge.Draw(t, "uptime"),
				Routes: []*wire.RouteReport{{
					Policy: "p", Provider: "x", Sends: huge.Draw(t, "sends"), TooLarge: huge.Draw(t, "too large"),
					LargestTooLarge: huge.Draw(t, "largest"), LastCallUnixMillis: huge.Draw(t, "last"),
					QuotaResetUnixMillis: int64(huge.Draw(t, "reset")), Generation: int64(huge.Draw(t, "generation")),
					StateMessage: string(rapid.SliceOf(rapid.Byte()).Draw(t, "message")),
					Limits: []*wire.LimitReport{{
						Name: "l", Level: absurd.Draw(t, "level"), Capacity: absurd.Draw(t, "capacity"),
						HeldForLanes: absurd.Draw(t, "held"), Spent: absurd.Draw(t, "spent"), Offered: absurd.Draw(t, "offered"),
						Reserved: absurd.Draw(t, "reserved"), ProviderKnown: true,
						ProviderRemaining: absurd.Draw(t, "remaining"), ProviderLimit: absurd.Draw(t, "limit"),
					}},
					Lanes: []*wire.LaneReport{{
						Name: "c", Offered: huge.Draw(t, "lane offered"), Queued: huge.Draw(t, "queued"),
						OldestWaitMillis: huge.Draw(t, "oldest"), WorstWaitMillis: huge.Draw(t, "worst"),
						WaitBuckets: []uint64{huge.Draw(t, "bucket"), huge.Draw(t, "bucket")},
						Refused:     map[string]uint64{"Deadline": huge.Draw(t, "refused"), "?": huge.Draw(t, "other")},
					}},
				}},
			}, start.Add(time.Duration(i)*time.Second))
		}
		f, ok := s.Policy("ns", "p", start.Add(20*time.Second))
		if !ok {
			t.Fatal("no figures")
		}
		checkFinite(t, f)
	})
}

func checkFinite(t *rapid.T, f PolicyFigures) {
	for _, l := range f.Limits {
		for name, v := range map[string]float64{
			"remaining": l.Remaining, "at provider": l.ProviderRemaining,
			"used": l.Used.Per(time.Minute), "offered": l.Offered.Per(24 * time.Hour), "held": l.HeldForLanes,
		} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s is %v", name, v)
			}
		}
		if l.Used.Recent() < 0 || l.Capacity < 0 || l.InUse < 0 {
			t.Fatalf("negative figures: %+v", l)
		}
	}
	for _, l := range f.Lanes {
		if l.Offered < 0 || l.Queued < 0 || l.Refused < 0 || l.WaitMedian < 0 || l.WaitWorst < 0 || l.QueuedOldest < 0 {
			t.Fatalf("negative figures: %+v", l)
		}
	}
	for _, p := range f.Providers {
		if p.Sends < 0 || p.LargestTooLarge < 0 || len(p.StateMessage) > maxMessage {
			t.Fatalf("absurd figures: %+v", p)
		}
	}
}
