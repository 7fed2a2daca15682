// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"
)

func TestWaitBoundIsTheLongestOfAllLimits(t *testing.T) {
	requests := Limit{Name: "requests", Budget: Requests, Amount: 4000, WindowSeconds: 60, Burst: 4000}
	input := Limit{Name: "input", Budget: InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000}
	with := func(l Limit, change func(*Limit)) Limit {
		change(&l)
		return l
	}
	slow := with(requests, func(l *Limit) { l.Name, l.Amount = "slow", 1 })
	tests := map[string]struct {
		limits  []Limit
		lane    Lane
		tokens  int64
		want    time.Duration
		limit   string
		bounded bool
	}{
		"60k of 40%":             {[]Limit{requests, input}, Lane{SharePermille: 400}, 60_000, 22_500 * time.Millisecond, "input", true},
		"1k of 60%":              {[]Limit{input}, Lane{SharePermille: 600}, 1000, 250 * time.Millisecond, "input", true},
		"rounded up":             {[]Limit{input}, Lane{SharePermille: 600}, 1001, 251 * time.Millisecond, "input", true},
		"requests take longest":  {[]Limit{slow, input}, Lane{SharePermille: 500}, 60_000, 2 * time.Minute, "slow", true},
		"nothing of its own":     {[]Limit{input}, Lane{}, 60_000, 0, "input", false},
		"no limits":              {nil, Lane{}, 60_000, 0, "", true},
		"a cap refuses":          {[]Limit{with(input, func(l *Limit) { l.WindowSeconds = 3600 })}, Lane{SharePermille: 1}, 60_000, 0, "", true},
		"calls in flight":        {[]Limit{{Name: "f", Budget: InFlight, Amount: 1, Burst: 1}}, Lane{SharePermille: 1}, 1, 0, "", true},
		"output":                 {[]Limit{with(input, func(l *Limit) { l.Budget = OutputTokens })}, Lane{SharePermille: 1}, 1, 0, "", true},
		"nothing passes":         {[]Limit{with(input, func(l *Limit) { l.Amount = 0 })}, Lane{SharePermille: 1}, 1, 0, "", true},
		"other models":           {[]Limit{with(input, func(l *Limit) { l.Models = []string{"a"} })}, Lane{SharePermille: 1}, 1, 0, "", true},
		"the lane's models":      {[]Limit{with(input, func(l *Limit) { l.Models = []string{"a*"} })}, Lane{SharePermille: 1000, Models: []string{"ab"}}, 60_000, 9 * time.Second, "input", true},
		"more than can be said":  {[]Limit{with(input, func(l *Limit) { l.Amount, l.WindowSeconds = 1, 3599 })}, Lane{SharePermille: 1}, MaxAmount, maxMillis * time.Millisecond, "input", true},
		"no size, only requests": {[]Limit{requests, input}, Lane{SharePermille: 400}, 0, 38 * time.Millisecond, "requests", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := Route{Limits: tc.limits}
			wait, limit, bounded := r.WaitBound(&tc.lane, tc.tokens)
			if wait != tc.want || limit != tc.limit || bounded != tc.bounded {
				t.Errorf("%v for %q, bounded %t; want %v for %q, %t", wait, limit, bounded, tc.want, tc.limit, tc.bounded)
			}
		})
	}
}
