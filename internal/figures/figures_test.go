// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/wire"
)

// reporter is a gateway of the tests below.
type reporter struct {
	pod      Pod
	sequence uint64
	up       time.Duration
	route    *wire.RouteReport
}

func newReporter(name string, up time.Duration) *reporter {
	return &reporter{
		pod: Pod{Namespace: "ns", Name: name, UID: "uid-" + name}, up: up,
		route: &wire.RouteReport{
			Policy: "p", Provider: "anthropic", Generation: 7, State: "Healthy",
			Limits: []*wire.LimitReport{{Name: "tokens"}},
			Lanes:  []*wire.LaneReport{{Name: "chat"}},
		},
	}
}

func (r *reporter) limit() *wire.LimitReport { return r.route.GetLimits()[0] }
func (r *reporter) lane() *wire.LaneReport   { return r.route.GetLanes()[0] }

func (r *reporter) report(s *Store, now time.Time) {
	r.sequence++
	s.Observe(r.pod, 1, &wire.Report{
		Sequence: r.sequence, UptimeMillis: uint64(max(r.up.Milliseconds(), 1)), Routes: []*wire.RouteReport{r.route},
	}, now)
}

func figuresAt(t *testing.T, s *Store, now time.Time) PolicyFigures {
	t.Helper()
	f, ok := s.Policy("ns", "p", now)
	if !ok {
		t.Fatal("no figures")
	}
	return f
}

func TestUsedIsPerWindowAndForgottenAfterIt(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Second)
	now := start
	for range 600 { // ten minutes of 100 a second
		a.limit().Spent += 100
		a.report(s, now)
		now = now.Add(time.Second)
	}
	f := figuresAt(t, s, now)
	if used := f.Limits[0].Used.Per(time.Minute); used < 5990 || used > 6010 {
		t.Errorf("used %v a minute, want 6000", used)
	}
	if used := f.Limits[0].Used.Per(time.Hour); used != 60_000 {
		t.Errorf("used %v an hour, want what was seen, 60000", used)
	}
	if f.Over != Window {
		t.Errorf("over %v, want %v", f.Over, Window)
	}
	for range 320 {
		a.report(s, now)
		now = now.Add(time.Second)
	}
	if used := figuresAt(t, s, now).Limits[0].Used.Per(time.Minute); used != 0 {
		t.Errorf("used %v a minute after five idle ones", used)
	}
}

func TestAStartIsNotExtrapolated(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Second)
	a.limit().Spent = 400_000
	a.report(s, start)
	f := figuresAt(t, s, start.Add(2*time.Second))
	if used := f.Limits[0].Used.Per(time.Minute); used != 400_000 {
		t.Errorf("used %v a minute, want 400000", used)
	}
}

// run reports once a second what each second brings, from start on, and returns when it ended.
func (r *reporter) run(s *Store, from time.Time, over time.Duration, tokens float64) time.Time {
	now := from
	for ; now.Sub(from) < over; now = now.Add(time.Second) {
		r.up += time.Second
		r.limit().Offered += tokens
		r.report(s, now.Add(time.Second))
	}
	return now
}

// Amounts are divided by the time that had traffic, not by a window that had none yet: a minute of load
// reads as that load, also after an idle time, and counts never mix with what they do not cover.
func TestRatesAreOverTheTimeThatHadTraffic(t *testing.T) {
	const load = 6000. // a second: 360k a minute
	type step struct {
		over   time.Duration
		tokens float64
	}
	for name, tc := range map[string]struct {
		steps     []step
		over      time.Duration
		per, peak float64
	}{
		"a minute after the start":           {[]step{{time.Minute, load}}, time.Minute, 360_000, 360_000},
		"twenty seconds after it":            {[]step{{20 * time.Second, load}}, 20 * time.Second, 120_000, 120_000},
		"a minute after an idle one":         {[]step{{time.Minute, 0}, {time.Minute, load}}, time.Minute, 360_000, 360_000},
		"a minute after ten idle ones":       {[]step{{time.Minute, load}, {10 * time.Minute, 0}, {time.Minute, load}}, time.Minute, 360_000, 360_000},
		"idle for four after a minute":       {[]step{{time.Minute, load}, {4 * time.Minute, 0}}, Window, 72_000, 360_000},
		"bursts of a minute every other":     {[]step{{time.Minute, load}, {time.Minute, 0}, {time.Minute, load}, {time.Minute, 0}, {time.Minute, load}}, Window, 216_000, 360_000},
		"bursts of ten seconds every minute": {[]step{{10 * time.Second, load}, {50 * time.Second, 0}, {10 * time.Second, load}, {50 * time.Second, 0}}, 2 * time.Minute, 60_000, 60_000},
		"steady for long":                    {[]step{{20 * time.Minute, load}}, Window, 360_000, 360_000},
		"one stray call before the load":     {[]step{{time.Second, 1}, {2 * time.Minute, 0}, {time.Minute, load}}, 3 * time.Minute, 120_000, 360_000},
		"idle for longer than the window":    {[]step{{time.Minute, load}, {6 * time.Minute, 0}}, Window, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, a, now := NewStore(), newReporter("a", time.Second), start
			a.report(s, now)
			for _, st := range tc.steps {
				now = a.run(s, now, st.over, st.tokens)
			}
			f := figuresAt(t, s, now)
			near := func(what string, got, want float64) {
				t.Helper()
				if got < want*0.95-1 || got > want*1.05+1 {
					t.Errorf("%s is %v, want %v", what, got, want)
				}
			}
			near("over", f.Over.Seconds(), tc.over.Seconds())
			near("offered", f.Limits[0].Offered.Per(time.Minute), tc.per)
			if peak := f.Limits[0].Offered.Peak(time.Minute); peak < tc.peak*0.83-1 || peak > tc.peak*1.05+1 {
				t.Errorf("peak is %v, want %v or, by the slots' edges, a sixth less", peak, tc.peak)
			}
		})
	}
}

func TestANewLeaderDoesNotCountAnOldGatewaysPast(t *testing.T) {
	for name, tc := range map[string]struct {
		up   time.Duration
		want int64
	}{
		"old":   {up: time.Hour, want: 5},
		"young": {up: time.Minute, want: 1005},
	} {
		t.Run(name, func(t *testing.T) {
			s, a := NewStore(), newReporter("a", tc.up)
			a.route.Sends = 1000
			a.report(s, start)
			a.route.Sends += 5
			a.report(s, start.Add(time.Second))
			if got := figuresAt(t, s, start.Add(time.Second)).Providers[0].Sends; got != tc.want {
				t.Errorf("sends %d, want %d", got, tc.want)
			}
		})
	}
}

func TestGoneGatewaysAgeOut(t *testing.T) {
	s, a, b := NewStore(), newReporter("a", time.Second), newReporter("b", time.Second)
	for _, r := range []*reporter{a, b} {
		r.limit().Level, r.limit().Spent = 10, 100
		r.report(s, start)
	}
	check := func(at time.Time, gateways int, remaining float64) {
		t.Helper()
		f := figuresAt(t, s, at)
		left := 0.0
		for _, l := range f.Limits {
			left += l.Remaining
		}
		if len(f.Gateways) != gateways || left != remaining {
			t.Errorf("%d gateways with %v left, want %d with %v", len(f.Gateways), left, gateways, remaining)
		}
	}
	check(start, 2, 20)
	s.Forget(b.pod)
	check(start, 1, 10)
	a.report(s, start.Add(8*time.Second))
	check(start.Add(12*time.Second), 1, 10)
	a.report(s, start.Add(Window))
	s.Sweep(start.Add(Window + time.Minute))
	if _, ok := s.namespaces["ns"].gateways[b.pod]; ok {
		t.Error("a gone gateway is remembered for ever")
	}
	check(start.Add(Window+time.Minute), 0, 0)
}

// E8: nothing is remembered of a namespace that went, not even where a gateway reported once more.
func TestANamespaceThatWentIsForgotten(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Second)
	a.report(s, start)
	s.Keep("ns", nil)
	a.route = &wire.RouteReport{}
	a.report(s, start.Add(time.Second))
	s.Forget(a.pod)
	s.Sweep(start.Add(2 * Window))
	if n := len(s.namespaces); n != 0 {
		t.Errorf("%d namespaces are remembered", n)
	}
}

func TestUsedByNamesTheThreeThatUsedMost(t *testing.T) {
	s := NewStore()
	for i, spent := range []float64{8, 40, 4, 8, 0} {
		r := newReporter(fmt.Sprintf("pod-%d", i), time.Second)
		r.limit().Spent = spent
		r.report(s, start)
	}
	want := []PodShare{{"pod-1", 40. / 60}, {"pod-0", 8. / 60}, {"pod-3", 8. / 60}}
	if diff := cmp.Diff(want, figuresAt(t, s, start).Limits[0].UsedBy); diff != "" {
		t.Error(diff)
	}
}

func TestProviderWordIsThatOfTheLastSender(t *testing.T) {
	s, a, b := NewStore(), newReporter("a", time.Second), newReporter("b", time.Second)
	for i, r := range []*reporter{a, b} {
		r.limit().ProviderKnown, r.limit().ProviderRemaining, r.limit().ProviderLimit = true, float64(1000*(i+1)), 5000
		r.route.Sends = 1
		r.report(s, start.Add(time.Duration(i)*time.Second))
	}
	a.report(s, start.Add(2*time.Second)) // sent nothing more
	f := figuresAt(t, s, start.Add(2*time.Second)).Limits[0]
	if !f.ProviderKnown || f.ProviderRemaining != 2000 {
		t.Errorf("remaining at the provider %v, want 2000", f.ProviderRemaining)
	}
}

func TestLaneWaitsAndRefusals(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Second)
	l := a.lane()
	l.Offered, l.Sent, l.Queued, l.OldestWaitMillis, l.WorstWaitMillis = 667, 600, 56, 28_000, 28_400
	l.Refused = map[string]uint64{"Deadline": 60, "QueueFull": 5, "SomethingNew": 2}
	l.WaitBuckets = make([]uint64, numWaits)
	l.WaitBuckets[13], l.WaitBuckets[14] = 100, 500 // up to 25 s, up to 30 s
	a.report(s, start)
	f := figuresAt(t, s, start).Lanes[0]
	want := LaneFigures{
		Provider: "anthropic", Name: "chat", Offered: 667, Sent: 600, Queued: 56, QueuedOldest: 28 * time.Second,
		Refused: 67, RefusedMostlyFor: "Deadline", RefusedBy: map[string]int64{"Deadline": 60, "QueueFull": 5, ReasonOther: 2},
		WaitMedian: 26360 * time.Millisecond, WaitWorst: 28400 * time.Millisecond,
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

func TestTheWorstStateCounts(t *testing.T) {
	s := NewStore()
	for i, state := range []string{"Healthy", "QuotaExhausted", "nonsense", "Throttling"} {
		r := newReporter(fmt.Sprint(i), time.Second)
		r.route.State, r.route.StateMessage = state, "said "+state+"\n"
		r.report(s, start)
	}
	f := figuresAt(t, s, start).Providers[0]
	if f.State != "QuotaExhausted" || f.StateMessage != "said QuotaExhausted " {
		t.Errorf("state %q, %q", f.State, f.StateMessage)
	}
}

func TestARemovedLimitLeavesTheFigures(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Second)
	a.limit().Spent = 5
	a.report(s, start)
	a.route.Limits = []*wire.LimitReport{{Name: "requests"}}
	for i := range 20 {
		a.report(s, start.Add(time.Duration(i)*time.Second))
	}
	f := figuresAt(t, s, start.Add(20*time.Second))
	if len(f.Limits) != 1 || f.Limits[0].Name != "requests" {
		t.Errorf("limits %+v", f.Limits)
	}
}

func TestGenerationIsTheLowestOfAPolicysRoutes(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Second)
	other := &wire.RouteReport{Policy: "p", Provider: "openai", Generation: 6}
	s.Observe(a.pod, 1, &wire.Report{Sequence: 1, UptimeMillis: 1, Routes: []*wire.RouteReport{a.route, other}}, start)
	if g := figuresAt(t, s, start).Gateways[0].Generation; g != 6 {
		t.Errorf("generation %d, want 6", g)
	}
}

// A namespace of churning pods and of gateways that invent names stays within its bounds.
func TestMemoryIsBounded(t *testing.T) {
	s := NewStore()
	for i := range 3 * maxGone {
		r := newReporter(fmt.Sprint("pod-", i), time.Second)
		r.report(s, start)
		s.Forget(r.pod)
	}
	if n := len(s.namespaces["ns"].gateways); n > maxGone+1 {
		t.Errorf("%d gone gateways are remembered", n)
	}
	a := newReporter("hostile", time.Second)
	for i := range 2000 {
		a.route.Policy, a.route.Provider = fmt.Sprint("policy", i), fmt.Sprint("provider", i)
		a.limit().Name, a.lane().Name = fmt.Sprint("limit", i), fmt.Sprint("lane", i)
		a.limit().Spent++
		a.report(s, start)
	}
	ns := s.namespaces["ns"]
	if n := len(ns.policies); n > maxPolicies {
		t.Errorf("%d policies are remembered", n)
	}
	gw := ns.gateways[a.pod]
	if n := len(gw.newest().routes); n > 2*wire.MaxRoutes {
		t.Errorf("%d routes are remembered", n)
	}
	if n := len(gw.used); n > maxUsed {
		t.Errorf("%d limits are remembered", n)
	}
	s.Keep("ns", []string{"policy1"})
	if n := len(ns.policies); n != 1 {
		t.Errorf("%d policies kept, want 1", n)
	}
}

func TestModelsAreBoundedAndTheRestIsOther(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Second)
	for i := range 200 {
		a.route.Models = []*wire.ModelTokens{{Model: fmt.Sprint("model-", i), Input: 1}}
		a.report(s, start)
	}
	models := s.Totals(start)[0].Providers[0].Models
	if len(models) > maxModelNames+1 {
		t.Errorf("%d models", len(models))
	}
}

// What the provider states counts once a call was sent after which it was known, and of gateways that sent of late.
func TestWhatTheProviderStatesIsCounted(t *testing.T) {
	s, start := NewStore(), time.Unix(1_800_000_000, 0)
	report := func(pod string, sequence, sends uint64, known bool, limit float64, at time.Time) {
		s.Observe(Pod{"team", pod, pod}, 1, &wire.Report{Sequence: sequence, UptimeMillis: 1, Routes: []*wire.RouteReport{{
			Policy: "p", Provider: "openai", Sends: sends,
			Limits: []*wire.LimitReport{{Name: "acme:tokens", ProviderKnown: known, ProviderLimit: limit, ProviderRemaining: 1}},
		}}}, at)
	}
	steps := []struct {
		pod             string
		sequence, sends uint64
		known           bool
		limit           float64
		after           time.Duration
		said            int
		least           float64
	}{
		{"a", 1, 0, false, 0, 0, 0, 0},
		{"a", 2, 1, false, 0, 0, 0, 0},              // it sent, and the provider told nothing
		{"a", 3, 2, true, 400, 0, 1, 400},           // it told
		{"a", 4, 2, true, 400, time.Second, 1, 400}, // nothing was sent since
		{"a", 5, 4, true, 300, time.Second, 2, 300},
		{"b", 1, 1, true, 200, 0, 3, 200},
		{"b", 2, 2, true, -5, 0, 2, 300}, // what no provider means is nothing
		{"b", 3, 3, true, 500, 0, 3, 300},
		{"b", 4, 4, true, 500, Window, 2, 500}, // a has not sent within the window
	}
	now := start
	for i, step := range steps {
		now = now.Add(step.after)
		report(step.pod, step.sequence, step.sends, step.known, step.limit, now)
		f, _ := s.Policy("team", "p", now)
		if got := f.Limits[0]; got.ProviderSaid != step.said || got.ProviderLeast != step.least {
			t.Fatalf("step %d: said %d times, %g at least; want %d, %g", i, got.ProviderSaid, got.ProviderLeast, step.said, step.least)
		}
	}
}
