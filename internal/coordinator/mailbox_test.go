// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"fmt"
	"testing"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

// However many reports come between two batches, the ledger sees the newest of each route.
func TestOnlyTheNewestReportOfARouteIsKept(t *testing.T) {
	var b mailbox
	a, c := routeKey{"p", "a"}, routeKey{"p", "c"}
	if !b.report(a, &pool.Report{Sequence: 5}) {
		t.Error("the first was not the first")
	}
	for _, seq := range []uint64{7, 6, 5} {
		if b.report(a, &pool.Report{Sequence: seq}) {
			t.Error("another was the first")
		}
	}
	b.report(c, &pool.Report{Sequence: 1})
	got := b.takeReports()
	if len(got) != 2 || got[a].Sequence != 7 || got[c].Sequence != 1 {
		t.Errorf("kept %v", got)
	}
	if len(b.takeReports()) != 0 || !b.report(a, &pool.Report{Sequence: 8}) {
		t.Error("what was taken stays")
	}
}

// A stream that is not written for a while finds one grant of each route, the newest, in messages that are not too large.
func TestOnlyTheNewestGrantOfARouteIsSent(t *testing.T) {
	var b mailbox
	for stamp := range int64(1000) {
		for i := range wire.MaxRoutes {
			b.grant(routeKey{"p", fmt.Sprint(i)}, &wire.Grant{Provider: fmt.Sprint(i), Stamp: stamp})
		}
	}
	seen := map[string]bool{}
	for _, m := range b.takeGrants() {
		if n := len(m.GetGrants().GetGrants()); n == 0 || n > wire.MaxDraws {
			t.Errorf("a message has %d grants", n)
		}
		for _, g := range m.GetGrants().GetGrants() {
			if g.GetStamp() != 999 || seen[g.GetProvider()] {
				t.Errorf("grant %v", g)
			}
			seen[g.GetProvider()] = true
		}
	}
	if len(seen) != wire.MaxRoutes {
		t.Errorf("%d routes are granted something", len(seen))
	}
	if len(b.takeGrants()) != 0 {
		t.Error("they are sent twice")
	}
}
