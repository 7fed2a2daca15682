// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/report"
	"github.com/headgate-dev/headgate/internal/wire"
)

var (
	_ report.Shares = Shares{}
	_ report.Source = Source{}
	_ Gateway       = (*proxy.Gateway)(nil)
)

type gateway struct {
	shares map[proxy.LimitID]admission.Share
	reset  bool
}

func (g *gateway) SetShares(shares map[proxy.LimitID]admission.Share, _ time.Time) { g.shares = shares }

func (g *gateway) Snapshot(_ time.Time, reset bool) []*wire.RouteReport {
	g.reset = reset
	return []*wire.RouteReport{{Policy: "p"}}
}

func TestOnlySaneSharesReachTheGateway(t *testing.T) {
	g := &gateway{}
	limit := func(name string, rate, capacity float64) *wire.LimitShare {
		return &wire.LimitShare{Policy: "p", Provider: "openai", Limit: name, RatePerSecond: rate, Capacity: capacity}
	}
	Shares{g}.Apply([]*wire.LimitShare{
		limit("good", 2.5, 100), limit("nothing passes", 0, 0),
		limit("nan", math.NaN(), 1), limit("infinite", 1, math.Inf(1)), limit("negative", -1, 1),
	})
	want := map[proxy.LimitID]admission.Share{
		{Policy: "p", Provider: "openai", Limit: "good"}:           {RatePerSecond: 2.5, Capacity: 100},
		{Policy: "p", Provider: "openai", Limit: "nothing passes"}: {},
	}
	if diff := cmp.Diff(want, g.shares); diff != "" {
		t.Error(diff)
	}
	Shares{g}.Safe()
	if g.shares != nil {
		t.Errorf("after the lapse there are shares %v", g.shares)
	}
}

func TestReportsResetTheWorstWaits(t *testing.T) {
	g := &gateway{}
	if got := (Source{g}).Report(time.Now()); len(got) != 1 || !g.reset {
		t.Errorf("report %v, reset %v", got, g.reset)
	}
}
