// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/report"
	"github.com/headgate-dev/headgate/internal/wire"
)

var (
	_ report.Draws  = Draws{}
	_ report.Source = Source{}
	_ Gateway       = (*proxy.Gateway)(nil)
)

type gateway struct {
	reset   bool
	all     bool
	granted map[string]pool.Grant
}

func (g *gateway) Draws(all bool, _ time.Time) []proxy.Draw {
	g.all = all
	return []proxy.Draw{{Policy: "p", Provider: "openai", Report: pool.Report{Sequence: 3, Lease: time.Second, Term: pool.Term{Epoch: 1, Opening: 2}}}}
}
func (g *gateway) NextDraw(now time.Time) (time.Time, bool) { return now, true }
func (g *gateway) Hastened() <-chan struct{}                { return nil }
func (g *gateway) Drain(time.Time) []proxy.Draw {
	return []proxy.Draw{{Policy: "p", Provider: "openai", Report: pool.Report{Draining: true}}}
}

func (g *gateway) Receive(policy, provider string, grant *pool.Grant, _ time.Time) {
	if g.granted == nil {
		g.granted = map[string]pool.Grant{}
	}
	g.granted[policy+"/"+provider] = *grant
}

func (g *gateway) Snapshot(_ time.Time, reset bool) []*wire.RouteReport {
	g.reset = reset
	return []*wire.RouteReport{{Policy: "p"}}
}

func TestDrawsAndGrantsPass(t *testing.T) {
	g := &gateway{}
	draws := Draws{g}.Draws(true, time.Now())
	want := &wire.Draw{Policy: "p", Provider: "openai", Sequence: 3, LeaseNanos: 1e9, Term: &wire.Term{Epoch: 1, Opening: 2}}
	if len(draws) != 1 || !g.all || !proto.Equal(draws[0], want) {
		t.Errorf("all %v: %v", g.all, draws)
	}
	if last := (Draws{g}).Drain(time.Now()); len(last) != 1 || !last[0].GetDraining() {
		t.Errorf("the last draws are %v", last)
	}
	Draws{g}.Receive([]*wire.Grant{
		{Policy: "p", Provider: "openai", Ack: 3, Totals: []*wire.Amount{{Limit: "tpm", Units: 5}, {Limit: "nan", Units: math.NaN()}, {Limit: "inf", Units: math.Inf(1)}, {Limit: "less", Units: -1}}},
		{Policy: "p", Provider: "long", Totals: []*wire.Amount{{Limit: strings.Repeat("x", 300)}}},
		{Policy: "p", Provider: "many", Totals: make([]*wire.Amount, 100)},
	}, time.Now())
	got := map[string]pool.Grant{"p/openai": {
		Ack: 3, Totals: []pool.Amount{{Budget: "tpm", Units: 5}, {Budget: "nan"}, {Budget: "inf", Units: 1e18}, {Budget: "less"}}, Expected: []pool.Amount{},
	}}
	if diff := cmp.Diff(got, g.granted); diff != "" {
		t.Error(diff)
	}
}

func TestReportsResetTheWorstWaits(t *testing.T) {
	g := &gateway{}
	if got := (Source{g}).Report(time.Now()); len(got) != 1 || !g.reset {
		t.Errorf("report %v, reset %v", got, g.reset)
	}
}
