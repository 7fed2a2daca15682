// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// exampleAccount is shared by support, which is sure of 40 % and uses 55 %, ingest, which is sure of 30 % and uses 10 %,
// and the lab, which is sure of nothing and waits.
func exampleAccount() AccountInputs {
	in := AccountInputs{
		Name: "acme", Generation: 3, Declared: true,
		Limits: []plan.Limit{
			{Name: "requests", Budget: plan.Requests, Amount: 4000, Burst: 4000, WindowSeconds: 60},
			{Name: "input-tokens", Budget: plan.InputTokens, Amount: 2_000_000, Burst: 2_000_000, WindowSeconds: 60},
			{Name: "in-flight", Budget: plan.InFlight, Amount: 64, Burst: 64},
		},
		Guaranteed: map[string]int32{"team-support": 40, "team-ingest": 30},
		Shared:     true,
		Budgets: ledger.AccountFigures{
			Limits: []ledger.AccountLimitFigures{
				{Name: "requests", Rate: 4000, Capacity: 3800, Level: 3200, Held: 300, Used: 613},
				{Name: "input-tokens", Rate: 2_000_000, Capacity: 1_900_000, Level: 21_000, Held: 60_000, Used: 1_960_000, Waiting: 41_000},
				{Name: "in-flight", Capacity: 64, Level: 30, Held: 34, Used: 34},
			},
			Tenants: []ledger.TenantFigures{
				{Namespace: "team-support", Limit: "input-tokens", Guaranteed: 800_000, Used: 1_100_000, Borrowed: 300_000, Share: 1_100_000, Holders: 11},
				{Namespace: "team-lab", Limit: "input-tokens", Used: 660_000, Borrowed: 660_000, Share: 660_000, Waiting: 41_000, WaitingCalls: 1, Holders: 2},
				{Namespace: "team-ingest", Limit: "input-tokens", Guaranteed: 600_000, Used: 200_000, Lent: 400_000, Share: 200_000, Holders: 4},
			},
			Holders: 17, Silent: 1,
		},
	}
	for i, namespace := range []string{"team-support", "team-ingest", "team-lab"} {
		in.Routes = append(in.Routes, exampleAccountRoute(namespace, float64(i+1)))
	}
	return in
}

func exampleAccountRoute(namespace string, n float64) AccountRoute {
	r := exampleRoute()
	r.Account, r.Limits = "acme", r.Limits[:1]
	for _, l := range []string{"requests", "input-tokens"} {
		r.Limits = append(r.Limits, plan.Limit{Name: "acme:" + l, Account: "acme"})
	}
	called := exampleNow.Add(-time.Duration(n) * time.Second)
	return AccountRoute{Namespace: namespace, Policy: "default", Compiled: &r, Figures: figures.PolicyFigures{
		Over: figures.Window,
		Limits: []figures.LimitFigures{
			{Provider: "anthropic", Name: "acme:requests", Used: figures.NewFlow(1000, figures.Window), Offered: figures.NewFlow(1000, figures.Window)},
			{
				Provider: "anthropic", Name: "acme:input-tokens", Binding: namespace == "team-lab",
				Used: figures.NewFlow(5*653_000, figures.Window), Offered: figures.NewFlow(5*700_000, figures.Window),
				ProviderKnown: true, ProviderRemaining: 100_000 * n, ProviderLimit: 2_000_000, ProviderSaid: 3, ProviderLeast: 2_000_000,
			},
			{Provider: "other", Name: "acme:input-tokens", Used: figures.NewFlow(1e9, figures.Window)},
		},
		Providers: []figures.ProviderFigures{{Name: "anthropic", Calls: 200, Sends: 200, TooManyRequests: int64(n), LastCall: called}},
	}}
}

func withAccount(change func(in *AccountInputs)) func() AccountInputs {
	return func() AccountInputs {
		in := exampleAccount()
		change(&in)
		return in
	}
}

// learning has the account declare nothing; gateways were told a limit so many times.
func learning(said int, kept map[string]int64) func(in *AccountInputs) {
	return func(in *AccountInputs) {
		in.Declared, in.Limits, in.Learned = false, nil, kept
		for _, l := range []plan.Limit{
			{Name: "requests", Budget: plan.Requests, Amount: plan.MaxAmount, WindowSeconds: 60, Watch: true},
			{Name: "input-tokens", Budget: plan.InputTokens, Amount: plan.MaxAmount, WindowSeconds: 60, Watch: true},
		} {
			in.Watched = append(in.Watched, l)
			if kept[l.Name] > 0 {
				l.Amount, l.Burst, l.Watch = kept[l.Name], kept[l.Name], false
				in.Limits = append(in.Limits, l)
			}
		}
		for i := range in.Routes {
			in.Routes[i].Figures.Limits[1].ProviderSaid = 0
		}
		in.Routes[0].Figures.Limits[1].ProviderSaid = said
	}
}

func unused(in *AccountInputs) {
	in.Budgets, in.Routes, in.Shared = ledger.AccountFigures{}, nil, false
}

var accountCases = map[string]func() AccountInputs{
	"shared":     exampleAccount,
	"nobody yet": withAccount(unused),
	"invalid": withAccount(func(in *AccountInputs) {
		unused(in)
		in.Problems = "spec.limits[0].burst: Invalid value: 1: no call ever fits."
	}),
	"nothing learned": withAccount(func(in *AccountInputs) { learning(1, nil)(in); in.Budgets.Limits = nil }),
	"learned":         withAccount(learning(2, map[string]int64{"input-tokens": 2_000_000})),
	"more is declared": withAccount(func(in *AccountInputs) {
		in.Routes[1].Figures.Limits[1].ProviderLeast, in.Routes[0].Figures.Limits[1].ProviderLimit = 400_000, 400_000
	}),
	"own limits exceed it": withAccount(func(in *AccountInputs) {
		in.Limits[0].Amount = 5000
	}),
	"largest calls exceed it": withAccount(func(in *AccountInputs) {
		in.Limits[0].Amount, in.Limits[1].Burst = 12_000, 100_000
	}),
	"somebody is refused": withAccount(func(in *AccountInputs) {
		in.Limits[0].Amount, in.Refused = 12_000, []string{"team-a", "team-b", "team-c", "team-d", "team-e"}
	}),
	"budget store lost": withAccount(func(in *AccountInputs) { in.StoreLost = exampleNow.Add(-time.Hour) }),
	"disconnected":      withAccount(func(in *AccountInputs) { in.Budgets.Holders, in.Budgets.Silent = 0, 17 }),
	"overloaded":        withAccount(func(in *AccountInputs) { in.Routes[2].Figures.Providers[0].Overloads = 60 }),
	"no room":           withAccount(func(in *AccountInputs) { in.Budgets.Left = 2 }),
}

func TestAccountStatusReadsAsDesigned(t *testing.T) {
	for name, inputs := range accountCases {
		t.Run(name, func(t *testing.T) {
			got := BuildAccount(inputs(), v1alpha1.ProviderAccountStatus{}, exampleNow)
			out, err := yaml.Marshal(map[string]any{"status": got.Status, "events": got.Events})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "account-"+strings.ReplaceAll(name, " ", "-")+".out.yaml", out)
			var kinds []string
			for _, c := range got.Status.Conditions {
				kinds = append(kinds, c.Type)
				if c.Reason == "" || c.Message == "" || c.ObservedGeneration != 3 || c.LastTransitionTime.IsZero() {
					t.Errorf("incomplete condition %+v", c)
				}
			}
			if diff := cmp.Diff([]string{"Accepted", "LimitsMatch", "Oversubscribed", "Degraded"}, kinds); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Of any number of tenants, policies and limits a status names few, and stays small.
func TestAccountStatusIsBounded(t *testing.T) {
	in := exampleAccount()
	for i := range 300 {
		name := fmt.Sprintf("team-%s-%d", strings.Repeat("x", 50), i)
		in.Budgets.Tenants = append(in.Budgets.Tenants, ledger.TenantFigures{Namespace: name, Limit: "input-tokens", Used: 1e6, Borrowed: 1e6, Waiting: 1e9})
		in.Routes = append(in.Routes, exampleAccountRoute(name, 1))
		in.Refused = append(in.Refused, name)
	}
	s := BuildAccount(in, v1alpha1.ProviderAccountStatus{}, exampleNow).Status
	if len(s.Namespaces) != MaxAccountNamespaces || s.Summary.Namespaces != 303 {
		t.Errorf("%d namespaces are named, of %d", len(s.Namespaces), s.Summary.Namespaces)
	}
	out, err := yaml.Marshal(s)
	if err != nil || len(out) > 8<<10 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// A transition keeps its time, and is told once.
func TestAccountTransitions(t *testing.T) {
	lost := withAccount(func(in *AccountInputs) { in.StoreLost = exampleNow })()
	first := BuildAccount(lost, v1alpha1.ProviderAccountStatus{}, exampleNow)
	if len(first.Events) != 1 || first.Events[0].Reason != v1alpha1.ReasonBudgetStoreLost || !strings.HasSuffix(first.Events[0].Message, "No call fails for this alone.") {
		t.Errorf("events %+v", first.Events)
	}
	later := BuildAccount(lost, first.Status, exampleNow.Add(time.Hour))
	if len(later.Events) != 0 || !later.Status.Conditions[3].LastTransitionTime.Equal(&metav1.Time{Time: exampleNow}) {
		t.Errorf("events %+v, condition %+v", later.Events, later.Status.Conditions[3])
	}
}

func TestDueAccount(t *testing.T) {
	quiet := func(in *AccountInputs) {
		for i := range in.Budgets.Tenants {
			in.Budgets.Tenants[i].Waiting, in.Budgets.Tenants[i].WaitingCalls = 0, 0
		}
		in.Budgets.Limits[1].Waiting, in.Limits[1].Amount = 0, 20_000_000
		for i := range in.Routes {
			in.Routes[i].Figures.Limits[1].Binding = false
			in.Routes[i].Figures.Limits[1].ProviderLeast = 20_000_000
		}
	}
	more := func(factor float64) func(in *AccountInputs) {
		return func(in *AccountInputs) {
			for i := range in.Routes {
				in.Routes[i].Figures.Limits[1].Used = figures.NewFlow(factor*5*653_000, figures.Window)
			}
		}
	}
	tests := map[string]struct {
		before, after func(in *AccountInputs)
		age           time.Duration
		want          bool
	}{
		"the same":                     {nil, nil, time.Hour, false},
		"a condition, at once":         {nil, func(in *AccountInputs) { in.StoreLost = exampleNow }, time.Second, true},
		"the generation, at once":      {nil, func(in *AccountInputs) { in.Generation++ }, time.Second, true},
		"learned, at once":             {learning(2, nil), learning(2, map[string]int64{"input-tokens": 5}), time.Second, true},
		"learned less, at once":        {learning(2, map[string]int64{"input-tokens": 7}), learning(2, map[string]int64{"input-tokens": 5}), time.Second, true},
		"a name, soon":                 {nil, func(in *AccountInputs) { in.Budgets.Tenants = in.Budgets.Tenants[:2] }, time.Second, false},
		"a name":                       {nil, func(in *AccountInputs) { in.Budgets.Tenants = in.Budgets.Tenants[:2] }, AbnormalInterval, true},
		"figures, soon":                {nil, more(1.2), AbnormalInterval - time.Second, false},
		"figures":                      {nil, more(1.2), AbnormalInterval, true},
		"figures that hardly moved":    {nil, more(1.01), time.Hour, false},
		"figures of a quiet account":   {quiet, func(in *AccountInputs) { quiet(in); more(2)(in) }, AbnormalInterval, false},
		"and after a while":            {quiet, func(in *AccountInputs) { quiet(in); more(2)(in) }, NormalInterval, true},
		"a clock that was ahead":       {nil, more(1.2), -time.Hour, true},
		"a message is no reason":       {nil, func(in *AccountInputs) { in.Budgets.Silent = 2 }, time.Hour, false},
		"part of a namespace that has": {nil, func(in *AccountInputs) { in.Budgets.Tenants[0].Lent = 200_000 }, AbnormalInterval, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := exampleAccount(), exampleAccount()
			if tc.before != nil {
				tc.before(&before)
			}
			if tc.after != nil {
				tc.after(&after)
			}
			previous := BuildAccount(before, v1alpha1.ProviderAccountStatus{}, exampleNow).Status
			now := exampleNow.Add(tc.age)
			if got := DueAccount(previous, BuildAccount(after, previous, now), now); got != tc.want {
				t.Errorf("due: %t, want %t", got, tc.want)
			}
		})
	}
}

// A learned limit is what two answers told, falls at once, and rises only to what was stated for a while.
func TestLearning(t *testing.T) {
	var l Learning
	now, kept := exampleNow, map[string]int64(nil)
	told := func(said int, least float64) {
		t.Helper()
		in := withAccount(learning(said, kept))()
		in.Routes[0].Figures.Limits[1].ProviderLeast = least
		kept = l.Take(in, kept, now)
	}
	steps := []struct {
		after time.Duration
		said  int
		least float64
		want  int64
	}{
		{0, 1, 400_000, 0},
		{time.Second, 2, 400_000, 400_000},
		{time.Second, 3, 200_000.7, 200_000},
		{time.Second, 0, 0, 200_000}, // nobody sends: it stays
		{time.Second, 9, 800_000, 200_000},
		{raiseAfter / 2, 9, 600_000, 200_000},
		{raiseAfter / 2, 9, 900_000, 600_000},
		{time.Second, 9, 900_000, 600_000},
		{raiseAfter / 2, 9, 500_000, 500_000}, // it fell: the wait begins again
		{raiseAfter / 2, 9, 900_000, 500_000},
		{raiseAfter / 2, 9, 900_000, 500_000},
		{raiseAfter / 2, 9, 1e15, 900_000},
		{time.Hour, 9, 0.5, 900_000}, // no limit at all
	}
	for i, step := range steps {
		now = now.Add(step.after)
		if told(step.said, step.least); kept["input-tokens"] != step.want {
			t.Fatalf("step %d: %d, want %d", i, kept["input-tokens"], step.want)
		}
	}
	in := exampleAccount()
	if got := l.Take(in, kept, now); got != nil {
		t.Errorf("of declared limits it learned %v", got)
	}
}
