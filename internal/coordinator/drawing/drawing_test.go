// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

func drawnNames() Names {
	return Names{
		Limits: map[string]bool{"tokens": true, "acme:tokens": true}, Lanes: map[string]bool{"default": true, "batch": true},
	}
}

func fullDraw() *wire.Draw {
	return &wire.Draw{
		Policy: "support", Provider: "anthropic", Sequence: 7, Term: &wire.Term{Epoch: 3, Opening: 4}, Stamp: 5, LeaseNanos: 6e9,
		Counts: []*wire.Count{
			{Limit: "tokens", Spent: 1, Returned: 2, Refunded: 3, Held: -4},
			{Limit: "invented", Spent: 9},
			{Limit: "acme:tokens", Spent: 5},
		},
		Wants: []*wire.Want{
			{Lane: "batch", Bulk: 8, Units: []*wire.Amount{{Limit: "tokens", Units: 10}, {Limit: "invented", Units: 11}}},
			{Lane: "invented", Bulk: 9},
		},
		Seen:     []*wire.Amount{{Limit: "acme:tokens", Units: 12}, {Limit: "other:tokens", Units: 13}},
		Draining: true,
	}
}

// A draw is the pool's report, of the holder that the stream's token names; names that are not the route's are left out.
func TestDrawsBecomeThePoolsReports(t *testing.T) {
	want := &pool.Report{
		Holder: "pod/uid", Incarnation: 99, Sequence: 7, Term: pool.Term{Epoch: 3, Opening: 4}, Stamp: 5, Lease: 6 * time.Second,
		Counts: []pool.Count{
			{Budget: "tokens", Spent: 1, Returned: 2, Refunded: 3, Held: -4}, {Budget: "acme:tokens", Spent: 5},
		},
		Wants:    []pool.Want{{Lane: "batch", Bulk: 8, Units: []pool.Amount{{Budget: "tokens", Units: 10}}}},
		Seen:     []pool.Amount{{Budget: "acme:tokens", Units: 12}},
		Draining: true,
	}
	if diff := cmp.Diff(want, Report(fullDraw(), drawnNames(), "pod/uid", 99)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestGrantsAreSentWhole(t *testing.T) {
	got := Grant("support", "anthropic", &pool.Grant{
		Holder: "pod/uid", Incarnation: 99, Term: pool.Term{Epoch: 3, Opening: 4}, Ack: 7, Stamp: 8,
		Totals: []pool.Amount{{Budget: "tokens", Units: 1}}, Expected: []pool.Amount{{Budget: "tokens", Units: 2}}, Recall: true,
		Lanes: []pool.LaneTotal{{
			Lane: "batch", Units: []pool.Amount{{Budget: "tokens", Units: 3}}, Bulk: 8,
			Outlook: []pool.Outlook{{Budget: "tokens", Spare: -5, PerSecond: 6}}, Asked: 9,
		}},
	})
	want := &wire.Grant{
		Policy: "support", Provider: "anthropic", Incarnation: 99, Term: &wire.Term{Epoch: 3, Opening: 4}, Ack: 7, Stamp: 8,
		Totals: []*wire.Amount{{Limit: "tokens", Units: 1}}, Expected: []*wire.Amount{{Limit: "tokens", Units: 2}}, Recall: true,
		Lanes: []*wire.LaneTotal{{
			Lane: "batch", Units: []*wire.Amount{{Limit: "tokens", Units: 3}}, Bulk: 8,
			Outlook: []*wire.Outlook{{Limit: "tokens", Spare: -5, PerSecond: 6}}, Asked: 9,
		}},
	}
	if !proto.Equal(want, got) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestDrawsHaveBounds(t *testing.T) {
	amounts := make([]*wire.Amount, wire.MaxLimits+1)
	for name, tc := range map[string]struct {
		draws *wire.Draws
		want  bool
	}{
		"nothing":           {&wire.Draws{}, true},
		"nothing in it":     {&wire.Draws{Draws: []*wire.Draw{{}, nil}}, true},
		"usual":             {&wire.Draws{Draws: []*wire.Draw{fullDraw()}}, true},
		"as many as may be": {&wire.Draws{Draws: make([]*wire.Draw, wire.MaxRoutes)}, true},
		"too many":          {&wire.Draws{Draws: make([]*wire.Draw, wire.MaxRoutes+1)}, false},
		"too many counts":   {&wire.Draws{Draws: []*wire.Draw{{Counts: make([]*wire.Count, wire.MaxLimits+1)}}}, false},
		"too many wants":    {&wire.Draws{Draws: []*wire.Draw{{Wants: make([]*wire.Want, wire.MaxWants+1)}}}, false},
		"too much wanted":   {&wire.Draws{Draws: []*wire.Draw{{Wants: []*wire.Want{{Units: amounts}}}}}, false},
		"too much seen":     {&wire.Draws{Draws: []*wire.Draw{{Seen: amounts}}}, false},
	} {
		if got := WithinBounds(tc.draws); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
