// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// What the provider says is a fact about all gateways' budget, which only the pool can act on: a gateway does not know what
// the others may spend.

// sight is the most that the provider can have of a limit, by what it said at a time.
type sight struct {
	most float64
	at   time.Time
}

// by is what it can have grown to.
func (s *sight) by(now time.Time, rate float64) float64 {
	return s.most + rate*max(0, now.Sub(s.at).Seconds())
}

// see notes that the provider has no more than so much.
func (l *limit) see(most float64, now time.Time) {
	if l.seen.at.IsZero() || most < l.seen.by(now, l.rate) {
		l.seen = sight{most, now}
	}
}

// Observe takes in what a response reports of the provider's buckets.
func (m *Member) Observe(t *admission.Ticket, r *dialect.Reading, now time.Time) {
	if len(r.Budgets) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.gate.Observe(t, r, now)
	m.charge(now)
	m.rearm(now)
	for k := range m.limits {
		l := &m.limits[k]
		if !m.told(l, t) {
			continue
		}
		if b := remaining(r, l.Budget); b != nil {
			// It was true at some moment since the call was sent.
			l.see(b.Remaining+max(b.RoundedTo, 1)+l.rate*max(0, now.Sub(t.Sent).Seconds()), now)
		}
	}
}

// Refused takes in a refusal of t's send: the provider had less than the call costs, by what the wait tells. It is as the
// gate's.
func (m *Member) Refused(t *admission.Ticket, r *dialect.Reading, named string, wait time.Duration, ok bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	m.gate.Refused(t, r, named, wait, ok, now)
	m.charge(now)
	m.rearm(now)
	for k := range m.limits {
		l := &m.limits[k]
		cost := l.cost(t)
		b := remaining(r, l.Budget)
		if !m.told(l, t) || named != "" && named != l.Budget || named == "" && b != nil && b.Remaining >= cost {
			continue
		}
		most := cost
		if ok {
			most = max(0, cost-min(wait, longestWait).Seconds()*l.rate)
		}
		if b != nil {
			most = max(most, min(b.Remaining, cost))
		}
		l.see(most, now)
	}
}

// longestWait bounds what a refusal is taken to say of a level.
const longestWait = time.Hour

// told says whether what the provider tells of calls like t is about the limit: an account's limits are the provider's own,
// and a policy's only where no account's is of that kind.
func (m *Member) told(l *limit, t *admission.Ticket) bool {
	if l.slots || l.cost(t) == 0 {
		return false
	}
	if l.Account != "" {
		return true
	}
	for k := range m.limits {
		if o := &m.limits[k]; o.Account != "" && o.Budget == l.Budget && o.cost(t) > 0 {
			return false
		}
	}
	return true
}

// remaining is what a response reports of a budget, nil if it does not.
func remaining(r *dialect.Reading, name string) *dialect.BudgetReading {
	for i := range r.Budgets {
		if b := &r.Budgets[i]; b.Budget == name && b.Bucket == "" && b.Remaining >= 0 && !math.IsInf(b.Remaining, 0) {
			return b
		}
	}
	return nil
}

// sights are what was seen since the last draw.
func (m *Member) sights(now time.Time) []pool.Amount {
	var out []pool.Amount
	for k := range m.limits {
		if l := &m.limits[k]; !l.seen.at.IsZero() {
			out = append(out, pool.Amount{Budget: l.Name, Units: l.seen.by(now, l.rate)})
			l.seen = sight{}
		}
	}
	return out
}
