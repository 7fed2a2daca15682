// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

// A report in which everything is as long and as large as its bound allows still fits into a message, or a gateway
// with many routes could not report at all.
func TestTheLargestReportFits(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("%03d-%s", i, strings.Repeat("n", 36)) }
	report := &Report{Sequence: math.MaxUint64, PlanError: strings.Repeat("e", 512), UptimeMillis: math.MaxUint64}
	for i := range MaxRoutes {
		r := &RouteReport{
			Policy: strings.Repeat("p", 63), Provider: name(i), Generation: math.MaxInt64, Calls: math.MaxUint64, Sends: math.MaxUint64,
			TooManyRequests: math.MaxUint64, StackedRetries: math.MaxUint64, State: "QuotaExhausted", StateMessage: strings.Repeat("é", 128),
			StateCode: strings.Repeat("c", 64), QuotaResetUnixMillis: math.MaxInt64, LastCallUnixMillis: math.MaxUint64, StackedBySdk: map[string]uint64{},
		}
		for _, sdk := range SDKs {
			r.StackedBySdk[sdk] = math.MaxUint64
		}
		for j := range MaxLimits {
			r.Limits = append(r.Limits, &LimitReport{
				Name: name(j), Level: -1, Capacity: 1, HeldForLanes: 1, Spent: 1, Offered: 1, Reserved: 1, Binding: true,
				ProviderRemaining: 1, ProviderLimit: 1, ProviderKnown: true,
			})
		}
		for j := range MaxLanes {
			lane := &LaneReport{Name: name(j), Offered: math.MaxUint64, Sent: math.MaxUint64, LargestCallTokens: 1, Refused: map[string]uint64{}}
			for k := range 10 {
				lane.Refused[fmt.Sprintf("Reason%010d", k)] = math.MaxUint32
			}
			for range len(WaitBoundsMillis) + 1 {
				lane.WaitBuckets = append(lane.WaitBuckets, math.MaxUint32)
			}
			r.Lanes = append(r.Lanes, lane)
		}
		for range MaxModels {
			r.Models = append(r.Models, &ModelTokens{
				Model: strings.Repeat("m", 128), Input: math.MaxUint64, Output: math.MaxUint64, CachedRead: math.MaxUint64, CacheWrite: math.MaxUint64,
			})
		}
		report.Routes = append(report.Routes, r)
	}
	if size := proto.Size(&Up{Message: &Up_Report{Report: report}}); size > MaxMessageBytes {
		t.Errorf("the largest report has %d bytes, and a message at most %d", size, MaxMessageBytes)
	} else {
		t.Logf("%d of %d bytes", size, MaxMessageBytes)
	}
}

// MaxDraws of the largest draws and grants fit a message.
func TestTheLargestDrawsFitAMessage(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("%03d-%s", i, strings.Repeat("n", 100)) } // ACCOUNT:LIMIT
	var amounts []*Amount
	for i := range MaxLimits {
		amounts = append(amounts, &Amount{Limit: name(i), Units: 1})
	}
	var outlook []*Outlook
	for i := range MaxLimits {
		outlook = append(outlook, &Outlook{Limit: name(i), Spare: -1, PerSecond: 1})
	}
	term := &Term{Epoch: math.MaxUint64, Opening: math.MaxUint64}
	draws, grants := &Draws{}, &Grants{}
	for range MaxDraws {
		d := &Draw{
			Policy: strings.Repeat("p", 63), Provider: name(0), Sequence: math.MaxUint64, Term: term, Stamp: math.MaxInt64,
			LeaseNanos: math.MaxInt64, Seen: amounts, Draining: true,
		}
		g := &Grant{
			Policy: d.Policy, Provider: d.Provider, Incarnation: math.MaxUint64, Term: term, Ack: math.MaxUint64, Stamp: math.MaxInt64,
			Totals: amounts, Expected: amounts, Recall: true,
		}
		for i := range MaxLimits {
			d.Counts = append(d.Counts, &Count{Limit: name(i), Spent: 1, Returned: 1, Refunded: 1, Held: 1})
		}
		for i := range MaxWants {
			d.Wants = append(d.Wants, &Want{Lane: name(i), Bulk: math.MaxUint64, Units: amounts})
		}
		for i := range MaxLanes {
			g.Lanes = append(g.Lanes, &LaneTotal{Lane: name(i), Units: amounts, Bulk: math.MaxUint64, Outlook: outlook, Asked: math.MaxUint64})
		}
		draws.Draws, grants.Grants = append(draws.Draws, d), append(grants.Grants, g)
	}
	for what, m := range map[string]proto.Message{
		"draws": &Up{Message: &Up_Draws{Draws: draws}}, "grants": &Down{Message: &Down_Grants{Grants: grants}},
	} {
		if size := proto.Size(m); size > MaxMessageBytes {
			t.Errorf("the largest %s have %d bytes, and a message at most %d", what, size, MaxMessageBytes)
		} else {
			t.Logf("%s: %d of %d bytes", what, size, MaxMessageBytes)
		}
	}
}
