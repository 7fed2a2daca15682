// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"
	"time"
)

// A policy without account shares its limits by a pool of its own.
func TestAPolicyWithoutAccountHasItsOwnPool(t *testing.T) {
	w := newWorld(t, 1, lan)
	r := w.policy("team", "chat", "", 4, lanes(400, 600), tokens("input", 400_000, 400_000), requests("requests", 4000, 4000))
	w.lead(1000 * time.Hour)
	for i := range 4 {
		w.join(fmt.Sprint("g", i), r).offer(&load{perSecond: 1.25, tokens: 2000})
	}
	w.goOn(time.Minute)
	before := w.meters[ownName(r, "input")].total
	w.goOn(3 * time.Minute)
	w.check()
	if used := w.used(ownName(r, "input"), before, 3*time.Minute); used < 0.98 || used > 1.01 {
		t.Errorf("%.4f of the rate were used", used)
	}
}

// Namespaces that refer to one account share it.
func TestPoliciesOfAnAccountShareIt(t *testing.T) {
	w := newWorld(t, 1, lan)
	w.sold(Account{Name: "acct", MaxGateways: 8, Limits: nil})
	w.sold(Account{Name: "acct", MaxGateways: 8, Limits: append(w.accounts[0].Limits, tokens("input", 400_000, 400_000))})
	a := w.policy("a", "chat", "acct", 4, lanes(400, 600), tokens("own", 300_000, 300_000))
	b := w.policy("b", "chat", "acct", 4, lanes(400, 600))
	w.lead(1000 * time.Hour)
	for i := range 2 {
		w.join(fmt.Sprint("g", i), a).offer(&load{perSecond: 2.5, tokens: 2000})
		w.join(fmt.Sprint("g", i), b).offer(&load{perSecond: 2.5, tokens: 2000})
	}
	w.goOn(time.Minute)
	before := w.meters["acct:input"].total
	w.goOn(3 * time.Minute)
	w.check()
	used := w.used("acct:input", before, 3*time.Minute)
	t.Logf("%.4f of the account", used)
	if used < 0.98 || used > 1.01 {
		t.Errorf("%.4f of the account were used", used)
	}
}

// Where a small call is as large as a whole burst, gateways that hear nothing have not saved several bursts together.
func TestGatewaysThatHearNothingKeepToABurst(t *testing.T) {
	w := newWorld(t, 1, lan)
	r := w.policy("team", "chat", "", 12, lanes(1000), tokens("input", 1200, 5))
	w.lead(1000 * time.Hour)
	var silent []*gateway
	for i := range 12 {
		g := w.join(fmt.Sprint("g", i), r)
		g.cut = true
		silent = append(silent, g)
	}
	w.goOn(20 * time.Second)
	for _, g := range silent {
		for _, d := range g.draws {
			if has := d.Balance("input", w.clock()); has <= 0 || !d.take(has) {
				t.Errorf("%s has a safe share of %v", g.name, has)
			}
		}
	}
	w.check()
}
