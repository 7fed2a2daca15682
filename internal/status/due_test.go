// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
)

// simulate builds a status every five seconds of the time given, as the controller does, and returns the
// times of the writes and the events told.
func simulate(over time.Duration, inputs func(at time.Duration) Inputs) (writes []time.Duration, events []Event) {
	var previous v1alpha1.RateLimitPolicyStatus
	var raised []string
	for at := time.Duration(0); at <= over; at += 5 * time.Second {
		in := inputs(at)
		in.Raised = raised
		now := exampleNow.Add(at)
		r := Build(in, previous, now)
		if !Due(previous, r, now) {
			continue
		}
		previous, raised = r.Status, r.Raised
		writes, events = append(writes, at), append(events, r.Events...)
	}
	return writes, events
}

// E1: without traffic the first write is the last.
func TestE1NoTrafficNoWrites(t *testing.T) {
	writes, _ := simulate(10*time.Hour, func(time.Duration) Inputs {
		in := exampleInputs()
		in.Figures = figures.PolicyFigures{Over: figures.Window, Gateways: in.Figures.Gateways}
		for i := range in.Figures.Gateways {
			in.Figures.Gateways[i].LastCall = time.Time{} // silent for days already
		}
		return in
	})
	if len(writes) != 1 {
		t.Errorf("written at %v", writes)
	}
}

// E2: under a load that never rests, at most one write in thirty seconds.
//
// Fault E2: Live figures in status filled etcd.
// Headgate: Figures are rounded and written at most every 30 s per policy, on a material change only; the exact ones
// are in metrics.
func TestE2AtMostOneWriteInThirtySeconds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	writes, events := simulate(30*time.Minute, func(time.Duration) Inputs {
		in := exampleInputs()
		l := &in.Figures.Limits[0]
		l.Binding, l.Remaining = random.IntN(2) == 0, 400_000*random.Float64()
		l.Offered = figures.NewFlow(5e6*random.Float64(), figures.Window)
		in.Figures.Lanes[1].Offered = random.Int64N(1000)
		in.Figures.Lanes[1].Refused = random.Int64N(2)
		in.Figures.Lanes[1].WaitMedian = time.Duration(random.Int64N(int64(30 * time.Second)))
		in.Pods = in.Pods[:8+random.IntN(4)]
		return in
	})
	for i := 1; i < len(writes); i++ {
		if writes[i]-writes[i-1] < AbnormalInterval {
			t.Errorf("written at %v and %v", writes[i-1], writes[i])
		}
	}
	if n := len(writes); n < 30 || n > 61 {
		t.Errorf("%d writes in 30m", n)
	}
	if len(events) > 40 {
		t.Errorf("%d events", len(events))
	}
}

func TestConditionsAreWrittenAtOnceAndFiguresAreNot(t *testing.T) {
	base := Build(exampleInputs(), examplePrevious(), exampleNow)
	for name, tc := range map[string]struct {
		change            func(in *Inputs)
		soon, in40, in10m bool
	}{
		"nothing":          {func(*Inputs) {}, false, false, false},
		"new generation":   {func(in *Inputs) { in.Generation++ }, true, true, true},
		"invalid":          {func(in *Inputs) { in.Accepted = Outcome{v1alpha1.ReasonInvalid, "x"} }, true, true, true},
		"all pods gone":    {func(in *Inputs) { in.Pods = nil }, true, true, true},
		"one pod more":     {func(in *Inputs) { in.Pods = append(in.Pods, Pod{Name: "z", OptedIn: true}) }, false, true, true},
		"no more queue":    {quiet, false, true, true},
		"one per cent":     {func(in *Inputs) { in.Figures.Limits[0].Used = figures.NewFlow(5*404_000, figures.Window) }, false, false, false},
		"six per cent":     {func(in *Inputs) { in.Figures.Limits[0].Used = figures.NewFlow(5*424_000, figures.Window) }, false, true, true},
		"overload":         {func(in *Inputs) { in.Figures.Providers[0].Overloads = 300 }, false, true, true},
		"too large a call": {func(in *Inputs) { in.Figures.Providers[0].TooLarge = 1 }, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := exampleInputs()
			tc.change(&in)
			for at, want := range map[time.Duration]bool{5 * time.Second: tc.soon, 40 * time.Second: tc.in40, 10 * time.Minute: tc.in10m} {
				now := exampleNow.Add(at)
				if got := Due(base.Status, Build(in, base.Status, now), now); got != want {
					t.Errorf("due after %v: %v, want %v", at, got, want)
				}
			}
		})
	}
}

// While nothing is abnormal, amounts wait ten minutes.
func TestNormalFiguresWaitTenMinutes(t *testing.T) {
	in := exampleInputs()
	quiet(&in)
	in.Pods = slices.DeleteFunc(in.Pods, func(p Pod) bool { return !p.Injected || p.Unrouted != "" })
	base := Build(in, examplePrevious(), exampleNow)
	in.Figures.Lanes[1].Offered = 900
	for at, want := range map[time.Duration]bool{time.Minute: false, 9 * time.Minute: false, NormalInterval: true} {
		now := exampleNow.Add(at)
		if got := Due(base.Status, Build(in, base.Status, now), now); got != want {
			t.Errorf("due after %v: %v, want %v", at, got, want)
		}
	}
}

// An event is told on the transition, not again while it lasts, and again after it had gone.
func TestEventsOnTransitionsOnly(t *testing.T) {
	told := func(events []Event) map[string]int {
		n := map[string]int{}
		for _, e := range events {
			n[e.Reason]++
		}
		return n
	}
	_, events := simulate(time.Hour, func(at time.Duration) Inputs {
		in := exampleInputs()
		if at > 20*time.Minute && at < 40*time.Minute {
			quiet(&in)
		} else {
			in.Figures.Providers[0].TooLarge, in.Figures.Providers[0].StackedRetries = 2, 80
		}
		return in
	})
	want := map[string]int{
		v1alpha1.EventPodsNotInjected: 1, v1alpha1.EventBypassSuspected: 1, v1alpha1.ReasonPolicyLimit: 2,
		v1alpha1.EventCallTooLarge: 2, v1alpha1.EventStackedRetries: 2,
	}
	for reason, n := range want {
		if told(events)[reason] != n {
			t.Errorf("%s told %d times, want %d", reason, told(events)[reason], n)
		}
	}
}

// Gateways that fall silent are disconnected after five minutes, told once, and not at once.
func TestDisconnectedAfterFiveMinutes(t *testing.T) {
	var since time.Duration
	_, events := simulate(20*time.Minute, func(at time.Duration) Inputs {
		in := exampleInputs()
		if at >= time.Minute {
			in.Figures = figures.PolicyFigures{}
		}
		return in
	})
	n := 0
	for _, e := range events {
		if e.Reason == v1alpha1.ReasonDisconnected {
			n++
		}
	}
	if n != 1 {
		t.Errorf("told %d times: %v", n, events)
	}
	previous := Build(exampleInputs(), examplePrevious(), exampleNow).Status
	for ; since <= 10*time.Minute; since += 10 * time.Second {
		in := exampleInputs()
		in.Figures = figures.PolicyFigures{}
		previous = Build(in, previous, exampleNow.Add(since)).Status
		if got := previous.Conditions[3].Status == "True"; got != (since >= DisconnectedAfter) {
			t.Fatalf("after %v of silence Degraded is %s", since, previous.Conditions[3].Status)
		}
	}
}
