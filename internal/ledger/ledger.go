// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Ledger is the pools of one leader, or of one that waits to lead. It is not safe for concurrent use.
type Ledger struct{}

// New makes a ledger that does not lead yet.
func New(opts Options) *Ledger { return &Ledger{} }

// Lead begins a leadership: all pools start anew, with what Last says of the ones before.
func (l *Ledger) Lead(by Leadership, now time.Time) {}

// Extend sets when the leadership ends unless it is extended again; without it never. From then on nothing is granted.
func (l *Ledger) Extend(until time.Time) {}

// SetPlan puts a namespace's plan in force; nil drops it. No edit refills a limit. The plan is kept, not copied.
func (l *Ledger) SetPlan(namespace string, p *plan.Plan, now time.Time) {}

// SetAccounts puts all accounts in force. What they hold is kept, not copied.
func (l *Ledger) SetAccounts(accounts []Account, now time.Time) {}

// Expect says that a gateway exists which a route governs: until it is heard of, its safe share is left to it. A route that
// is not in the plan is ignored, and expectations end with their route: say it again after each SetPlan.
func (l *Ledger) Expect(r Route, holder string, now time.Time) {}

// Forget says that the gateway is deleted, or not governed by the route any longer.
func (l *Ledger) Forget(r Route, holder string, now time.Time) {}

// Report takes in what a gateway says of a route, by its plan's names; rep.Holder is the gateway. See pool.Pool.Report: an
// error means that it was not taken in and is not answered.
func (l *Ledger) Report(r Route, rep *pool.Report, now time.Time) error { return ErrNotLeading }

// Advance grants what can be granted by now. It is to be called after the reports of a tick, and when Next says.
func (l *Ledger) Advance(now time.Time) {}

// Next is when Advance is due if nothing is reported before.
func (l *Ledger) Next(now time.Time) (time.Time, bool) { return time.Time{}, false }

// Changed appends who is to be told something: those that reported, and those that were granted something.
func (l *Ledger) Changed(dst []Recipient) []Recipient { return dst }

// Grant is what a recipient is to be told now, by its plan's names; false if there is nothing to say.
func (l *Ledger) Grant(to Recipient, now time.Time) (pool.Grant, bool) { return pool.Grant{}, false }

// Figures takes the figures.
func (l *Ledger) Figures(now time.Time) Figures { return Figures{} }

// Pools appends the keys of all pools, in order.
func (l *Ledger) Pools(dst []Key) []Key { return dst }

// Budgets are what a pool shares, by its own names: those of an account have the names that the account gives them, a
// route's own in an account's pool are NAMESPACE/POLICY/PROVIDER:LIMIT.
func (l *Ledger) Budgets(k Key) []pool.Budget { return nil }
