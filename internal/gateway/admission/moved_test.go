// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// moves are edits of where a route's calls go.
var moves = map[string][]Provider{
	"elsewhere":              {{"OpenAI", "https://two.example"}},
	"another dialect":        {{"Anthropic", "https://one.example"}},
	"both":                   {{"Anthropic", "https://two.example"}},
	"elsewhere and back":     {{"OpenAI", "https://two.example"}, {"OpenAI", "https://one.example"}},
	"elsewhere, and further": {{"OpenAI", "https://two.example"}, {"Anthropic", "https://three.example"}},
}

var first = Provider{"OpenAI", "https://one.example"}

// TestC12WhoWaitsForTheLastProviderIsSentNoEarlier: fifty calls wait for what their provider asked for, or has. Edits send later
// ones elsewhere: those go at once, and each of the fifty when it would have gone without an edit.
func TestC12WhoWaitsForTheLastProviderIsSentNoEarlier(t *testing.T) {
	for what, told := range map[string]string{"a wait": plan.InFlight, "a spent limit": plan.Requests} {
		want := departures(t, told, nil)
		if want[0] < 39*time.Second || want[len(want)-1] > 10*time.Minute {
			t.Fatalf("%s: without an edit they went after %v", what, want)
		}
		for name, to := range moves {
			if got := departures(t, told, to); !slices.Equal(got, want) {
				t.Errorf("%s, %s: they went after %v, without an edit after %v", what, name, got, want)
			}
		}
	}
}

// departures are when fifty calls to the first provider went, after a second of which the route went by moves.
func departures(t *testing.T, told string, to []Provider) (went []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		route := plan.Route{
			Name: "r", Dialect: first.Dialect, BaseURL: first.BaseURL,
			Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100}},
		}
		g := New(Options{Facts: *factsOf(first.Dialect, nil)}, route, 1, time.Now())
		defer g.Close()
		begun, calls := time.Now(), []*Ticket{}
		for i := range 51 {
			c := ticket(10, 10)
			c.Provider, c.Deadline = first, time.Time{}
			calls = append(calls, c)
			v := g.Enter(c, time.Now())
			if i == 0 {
				// The first finds out.
				g.Observe(c, reading(plan.Requests, 60, 0), time.Now())
				g.Release(c, Settlement{Kind: Rejected})
				g.Refused(c, reading(plan.Requests, 60, 0), told, 40*time.Second, true, time.Now())
			} else if v.State != budget.Queued {
				t.Fatalf("call %d is %+v", i, v)
			}
		}
		time.Sleep(time.Second)
		for _, p := range to {
			route.Dialect, route.BaseURL = p.Dialect, p.BaseURL
			g.Configure(route, 1, time.Now())
			if p == first {
				continue
			}
			later := ticket(10, 10)
			if v := g.Enter(later, time.Now()); v.State != budget.Admitted {
				t.Errorf("a call to %v is %+v", p, v)
			}
			g.Release(later, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 10, Output: 10}})
			g.Succeeded(later)
		}
		for _, c := range calls[1:] {
			<-c.Ready()
			went = append(went, time.Since(begun))
			if v := g.Verdict(c); v.State != budget.Admitted {
				t.Fatalf("a call that waited is %+v", v)
			}
			g.Release(c, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 10, Output: 10}})
		}
	})
	return went
}

// TestC12WhoIsUnderWayIsChargedWhereItWent: an edit has a route speak otherwise. What is under way is charged as its own provider
// charges, also where it is sent again.
func TestC12WhoIsUnderWayIsChargedWhereItWent(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		want     float64
	}{{"Anthropic", "OpenAI", 200}, {"OpenAI", "Anthropic", 8200}} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.from, again), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { chargesWhereItWent(t, tc.from, tc.to, tc.want, again) })
			})
		}
	}
}

func chargesWhereItWent(t *testing.T, from, to string, want float64, again bool) {
	t.Helper()
	route := plan.Route{
		Name: "r", Dialect: from, BaseURL: "https://one.example",
		Limits: []plan.Limit{{Name: "input", Budget: plan.InputTokens, Amount: 60_000, WindowSeconds: 60, Burst: 60_000}},
		Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100}},
	}
	g := New(Options{Facts: *factsOf(from, nil)}, route, 1, time.Now())
	defer g.Close()
	c := ticket(10_000, 10)
	g.Enter(c, time.Now())
	route.Dialect = to
	g.Configure(route, 1, time.Now())
	if again {
		g.Release(c, Settlement{Kind: Rejected})
		if v := g.Retry(c, time.Now(), time.Now()); v.State != budget.Admitted {
			t.Fatalf("sent again it is %+v", v)
		}
	}
	g.Release(c, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 200, Output: 5, CachedRead: 8000, CacheOutside: true}})
	if spent := g.Figures(time.Now()).Limits[0].Spent; spent != want {
		t.Errorf("%s charges %v tokens, and %v are counted", from, want, spent)
	}
}

// TestC12ARefusedRequestIsPaidWhereItWent: whether a refusal costs a request of the provider's is what that one says to whom
// it was sent, also where it was about to be sent when the route was edited.
func TestC12ARefusedRequestIsPaidWhereItWent(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		back     float64
	}{{"OpenAI", "OpenRouter", 1}, {"OpenRouter", "OpenAI", 0}} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.from, late), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { paysWhereItWent(t, tc.from, tc.to, tc.back, late) })
			})
		}
	}
}

func paysWhereItWent(t *testing.T, from, to string, want float64, late bool) {
	t.Helper()
	route := plan.Route{
		Name: "r", Dialect: from, BaseURL: "https://one.example",
		Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100}},
	}
	g := New(Options{Facts: *factsOf(from, nil)}, route, 1, time.Now())
	defer g.Close()
	toFirst := func() *Ticket {
		c := ticket(10, 10)
		c.Provider = Provider{from, "https://one.example"}
		return c
	}
	told, refused := toFirst(), toFirst()
	g.Enter(told, time.Now())
	g.Observe(told, reading(plan.Requests, 60, 49), time.Now())
	edit := func() {
		route.Dialect = to
		g.Configure(route, 1, time.Now())
	}
	if late {
		edit()
	}
	if v := g.Enter(refused, time.Now()); v.State != budget.Admitted {
		t.Fatalf("the call is %+v", v)
	}
	if !late {
		edit()
	}
	level := func() float64 { return g.sched.Level(g.groupOf(refused).mirror(plan.Requests).id, time.Now()) }
	before := level()
	g.Release(refused, Settlement{Kind: Rejected})
	if back := level() - before; back != want {
		t.Errorf("%s gives back %v of a refused request, and %v is counted", from, want, back)
	}
}

// TestProvidersAreNotTakenForEachOther: whatever models clients name and however base URLs are written, buckets have names of
// their own.
func TestProvidersAreNotTakenForEachOther(t *testing.T) {
	names := map[string]metered{}
	parts := []string{"", "m", "/", `"`, `"/1/m`, "/1/m", `"/1/`, "a", "a/1"}
	for _, url := range parts {
		for _, model := range parts {
			for fingerprint := range uint64(2) {
				key := metered{Account{fingerprint, model}, Provider{"OpenAI", url}}
				if other, taken := names[key.name()]; taken {
					t.Errorf("%+v and %+v are %s", key, other, key.name())
				}
				names[key.name()] = key
			}
		}
	}
}
