// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// SetAccounts puts all provider accounts in force. What they hold belongs to the coordinator from then on.
func (s *Server) SetAccounts(accounts []ledger.Account) {
	s.budgets.do(func(_ context.Context, now time.Time) { s.budgets.ledger.SetAccounts(accounts, now) })
}

// Budgets are the leader's pools as of a second ago at the most; nothing where this replica does not lead.
func (s *Server) Budgets() ledger.Figures { return *s.budgets.figures.Load() }

// plan tells the ledger of a namespace's plan; nil drops it.
func (b *budgets) plan(namespace string, p *plan.Plan) {
	b.do(func(_ context.Context, now time.Time) { b.ledger.SetPlan(namespace, p, now) })
}

// govern finds out what governs a member, and tells the ledger which gateways each route has. Expectations end with a
// plan, so all are told anew with another one.
func (s *Server) govern(sp *space, m *member) {
	before := m.governed
	sp.govern(m)
	s.budgets.expect(m, m.governed)
	s.budgets.forget(m, slices.DeleteFunc(slices.Clone(before), func(r *planRoute) bool { return m.governing(r.key) != nil }))
}

// expect says that a member's gateway exists.
func (b *budgets) expect(m *member, routes []*planRoute) {
	b.each(m, routes, func(r ledger.Route, holder string, now time.Time) { b.ledger.Expect(r, holder, now) })
}

// forget says that it does not, or that routes do not govern it any longer.
func (b *budgets) forget(m *member, routes []*planRoute) {
	b.each(m, routes, func(r ledger.Route, holder string, now time.Time) { b.ledger.Forget(r, holder, now) })
}

func (b *budgets) each(m *member, routes []*planRoute, say func(ledger.Route, string, time.Time)) {
	if len(routes) == 0 {
		return
	}
	who := addressOf(m.pod)
	b.do(func(_ context.Context, now time.Time) {
		for _, r := range routes {
			say(ledger.Route{Namespace: who.namespace, Policy: r.key.policy, Provider: r.key.provider}, who.holder, now)
		}
	})
}
