// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

func TestFullnessIsOfWhateverIsFuller(t *testing.T) {
	tests := map[string]struct {
		now  budget.LaneSnapshot
		lane plan.Lane
		want float64
	}{
		"empty":             {budget.LaneSnapshot{MaxDepth: 10}, plan.Lane{MaxBytes: 100}, 0},
		"by calls":          {budget.LaneSnapshot{Queued: 5, MaxDepth: 10, Bytes: 10}, plan.Lane{MaxBytes: 100}, 0.5},
		"by bytes":          {budget.LaneSnapshot{Queued: 1, MaxDepth: 10, Bytes: 80}, plan.Lane{MaxBytes: 100}, 0.8},
		"no bytes stated":   {budget.LaneSnapshot{Queued: 1, MaxDepth: 10, Bytes: 80}, plan.Lane{}, 0.1},
		"nobody may wait":   {budget.LaneSnapshot{}, plan.Lane{}, 0},
		"shrunk by an edit": {budget.LaneSnapshot{Queued: 20, MaxDepth: 10}, plan.Lane{}, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fullness(&tc.now, &tc.lane); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestLimitReportSaysWhatIsKnownOfTheProvider(t *testing.T) {
	r := limitReport(&admission.LimitFigures{Effective: 0.85, Outsiders: 2000, ProviderBinding: true})
	if r.GetEffective() != 0.85 || r.GetOutsidersPerSecond() != 2000 || !r.GetProviderBinding() {
		t.Errorf("%v", r)
	}
}

// counted is a store of deferred calls of which only the counts matter.
type counted struct{ DeferredCounts }

func (counted) CheckCallback(string, []string) error { return errors.New("not asked") }

func (counted) Take(context.Context, *Later, *plan.Deferred) (*Promise, error) {
	return nil, errors.New("not asked")
}

func (c counted) Counts(policy, route string) DeferredCounts {
	if policy != "support" || route != "anthropic" {
		return DeferredCounts{}
	}
	return c.DeferredCounts
}
func (counted) ServeHTTP(http.ResponseWriter, *http.Request) {}

func TestReportsCountDeferredCalls(t *testing.T) {
	g := &Gateway{opts: Options{Deferrals: counted{DeferredCounts{
		Waiting: 3, Done: 4, DeadLetters: 1, Outcomes: map[string]uint64{"accepted": 9, "full": 2},
	}}}}
	r := &wire.RouteReport{Policy: "support", Provider: "anthropic"}
	g.addDeferred(r)
	if r.GetDeferred() != 9 || r.GetDeferredWaiting() != 3 || r.GetDeadLetters() != 1 {
		t.Errorf("%v", r)
	}
	other := &wire.RouteReport{Policy: "support", Provider: "other"}
	g.addDeferred(other)
	if other.GetDeferred() != 0 || other.GetDeferredWaiting() != 0 {
		t.Errorf("another route has %v", other)
	}
}
