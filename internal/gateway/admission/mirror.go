// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Constants of the mirrors.
const (
	// guard keeps a mirror inside the provider's bucket: latency jitter and errors of the estimates of
	// calls in flight must not send a call too early.
	guard = 0.05
	// jitter is how late a send may arrive after others that left later: a reported level is taken to be
	// lower by what refills in that time.
	jitter = 250 * time.Millisecond
	// slower keeps its refill inside the provider's, whose clock may run differently.
	slower = 0.998
	// maxGroups bounds the accounts that are mirrored; the one that was used longest ago makes room.
	maxGroups = 64
	// shortestReset is the least a reset must be for a rate to be computed from it.
	shortestReset = 500 * time.Millisecond
	// longestWindow is the longest a budget takes to refill, a month: what claims more is junk, and a rate
	// learned from it would shut the account for good.
	longestWindow = 31 * 24 * time.Hour
	// longestHold bounds what one refusal holds back of other calls: after it the provider is asked again.
	// Waits of weeks are seen, and accounts are raised before they are over.
	longestHold = time.Hour
	// holdRate is how fast calls follow the first after a wait that fits no bucket.
	holdRate = 20
)

// group is what is known of one account's buckets at the provider.
type group struct {
	name    string
	mirrors [4]*mirror
	hold    *mirror
	used    uint64
}

// mirror is one bucket of the provider's, as far as it is known.
type mirror struct {
	budget    string
	id        budget.BucketID
	known     bool
	declared  bool // from the policy, the provider has not said
	limit     float64
	rate      float64
	window    time.Duration
	remaining float64
	reported  bool
}

var mirrored = [...]string{plan.Requests, plan.Tokens, plan.InputTokens, plan.OutputTokens}

// groupLocked returns the group of an account; mu is held.
func (g *Gate) groupLocked(a Account) *group {
	g.uses++
	if grp := g.groups[a]; grp != nil {
		grp.used = g.uses
		return grp
	}
	if len(g.groups) >= maxGroups {
		g.dropOldestLocked()
	}
	grp := &group{name: "mirror/" + strconv.FormatUint(a.Fingerprint, 16) + "/" + a.Model + "/"}
	for i, name := range mirrored {
		grp.mirrors[i] = &mirror{budget: name}
	}
	grp.hold = &mirror{budget: plan.Requests}
	grp.used = g.uses
	g.groups[a] = grp
	return grp
}

func (g *Gate) dropOldestLocked() {
	var oldest Account
	least := uint64(math.MaxUint64)
	for a, grp := range g.groups {
		if grp.used < least {
			oldest, least = a, grp.used
		}
	}
	delete(g.groups, oldest)
}

func (grp *group) mirror(name string) *mirror {
	for i, b := range mirrored {
		if b == name {
			return grp.mirrors[i]
		}
	}
	return nil
}

// Observe takes in what any response to t's send reports of the provider's buckets. It only tightens.
func (g *Gate) Observe(t *Ticket, r *dialect.Reading, now time.Time) {
	if len(r.Budgets) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	grp := g.groupLocked(t.Account)
	for i := range r.Budgets {
		b := &r.Budgets[i]
		if m := grp.mirror(b.Budget); m != nil && b.Bucket == "" {
			g.observeLocked(grp, m, b, now.Sub(t.Sent), now)
		}
	}
	g.runLocked(now)
}

func (g *Gate) observeLocked(grp *group, m *mirror, b *dialect.BudgetReading, took time.Duration, now time.Time) {
	g.learnLocked(grp, m, b, now)
	if b.Remaining < 0 {
		return
	}
	m.remaining, m.reported = b.Remaining, true
	if m.known {
		// What was reported holds for some moment since the send: it may have refilled meanwhile.
		hi := b.Remaining + max(b.RoundedTo, 1) - 1 + m.rate*took.Seconds()
		g.sched.Lower(m.id, hi-min(guard*m.limit, m.rate*jitter.Seconds()), now)
	}
}

// learnLocked learns a limit and its rate: from the window where the dialect knows it, else from what a
// reset to full says; mu is held.
func (g *Gate) learnLocked(grp *group, m *mirror, b *dialect.BudgetReading, now time.Time) {
	if b.Limit <= 0 {
		return
	}
	var r float64
	window := b.Window
	switch {
	case window > longestWindow || window <= 0 && b.Reset > longestWindow:
		return
	case window > 0:
		r = b.Limit / window.Seconds()
	case g.facts.ResetMeans == facts.ResetFull && b.HasReset && b.Reset >= shortestReset && b.Remaining >= 0 && b.Remaining < b.Limit:
		r = (b.Limit - b.Remaining) / b.Reset.Seconds()
		window = time.Duration(b.Limit / r * float64(time.Second)).Round(time.Second)
	case m.known && !m.declared:
		r, window = m.rate/slower, m.window
	default:
		return
	}
	if m.known && !m.declared && m.limit == b.Limit && within(m.rate, r*slower, 0.02) {
		return
	}
	m.limit, m.rate, m.window, m.declared = b.Limit, r*slower, window, false
	g.ensureLocked(grp, m, now)
}

// within compares with a relative tolerance: a rate computed from rounded times must not be set anew
// with each response.
func within(a, b, tolerance float64) bool {
	d := a - b
	return d <= tolerance*b && -d <= tolerance*b
}

func (g *Gate) ensureLocked(grp *group, m *mirror, now time.Time) {
	m.id = g.sched.Ensure(budget.Bucket{
		Name: grp.name + m.budget, Rate: m.rate, Capacity: m.limit * (1 - guard), Limit: m.limit, Window: m.window,
	}, now)
	m.known = true
}

// Refused takes in a refusal of t's send: a fact about the levels. wait is what the provider asks for; ok
// is false without guidance. r and named say what else it told. t was settled.
func (g *Gate) Refused(t *Ticket, r *dialect.Reading, named string, wait time.Duration, ok bool, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait = min(wait, longestHold)
	grp := g.groupLocked(t.Account)
	lowered := false
	for _, m := range grp.mirrors {
		cost, _, counts := t.cost(m.budget)
		if !counts || named != "" && named != m.budget || named == "" && sufficient(r, m.budget, cost) {
			continue
		}
		if !m.known && !g.declareLocked(grp, m, t.Account.Model, now) {
			continue
		}
		level := cost - 1
		if ok {
			// Waits are rounded up, often to whole seconds: what the refusal itself reports beats them.
			level = max(cost-wait.Seconds()*m.rate, remaining(r, m.budget))
		}
		g.sched.Lower(m.id, min(level, cost-1), now)
		lowered = true
	}
	if !lowered && ok && wait > 0 {
		g.holdLocked(grp, wait, now)
	}
	g.runLocked(now)
}

// remaining is what a refusal reports to be left of a budget, far below zero if it does not.
func remaining(r *dialect.Reading, name string) float64 {
	for i := range r.Budgets {
		if b := &r.Budgets[i]; b.Budget == name && b.Bucket == "" && b.Remaining >= 0 {
			return b.Remaining
		}
	}
	return math.Inf(-1)
}

// sufficient says whether the refusal itself shows that a budget had enough for the call.
func sufficient(r *dialect.Reading, name string, cost float64) bool {
	return remaining(r, name) >= cost
}

// declareLocked starts a mirror from the narrowest declared limit of its budget: until the provider says
// more, it sells no more than the policy allows. mu is held.
func (g *Gate) declareLocked(grp *group, m *mirror, model string, now time.Time) bool {
	for _, l := range g.limits {
		if l.Budget != m.budget || !l.matches(model) || rate(l.Limit) <= 0 {
			continue
		}
		if m.known && rate(l.Limit)*slower >= m.rate {
			continue
		}
		m.limit, m.rate = float64(l.Burst), rate(l.Limit)*slower
		m.window = time.Duration(l.WindowSeconds) * time.Second
		m.declared = true
		g.ensureLocked(grp, m, now)
	}
	return m.known
}

// holdLocked holds an account by time: the wait fits no bucket that is known. One call goes first.
func (g *Gate) holdLocked(grp *group, wait time.Duration, now time.Time) {
	h := grp.hold
	h.rate, h.limit = holdRate, 1
	h.id = g.sched.Ensure(budget.Bucket{Name: grp.name + "hold", Rate: holdRate, Capacity: 1}, now)
	h.known = true
	g.sched.Lower(h.id, 1-wait.Seconds()*holdRate, now)
}

// Succeeded ends a hold by time: the account is served again.
func (g *Gate) Succeeded(t *Ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if grp := g.groups[t.Account]; grp != nil {
		grp.hold.known = false
	}
}

// Floor is the wait until t's call fits by what a refusal reports of resets, for providers whose resets
// tell when a bucket is full: floor = clamp((cost − level)/R, 0, reset), the latest of the budgets that
// have too little. ok is false where nothing is known.
func (g *Gate) Floor(t *Ticket, r *dialect.Reading) (floor time.Duration, ok bool) {
	if g.facts.ResetMeans != facts.ResetFull {
		return 0, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	grp := g.groups[t.Account]
	if grp == nil {
		return 0, false
	}
	for i := range r.Budgets {
		b := &r.Budgets[i]
		m := grp.mirror(b.Budget)
		cost, _, counts := t.cost(b.Budget)
		if m == nil || !m.known || !counts || !b.HasReset || b.Limit <= 0 {
			continue
		}
		level := max(b.Remaining, b.Limit-m.rate/slower*b.Reset.Seconds())
		if level >= cost {
			continue
		}
		// Bounded before it becomes a Duration: an absurd cost would overflow to a wait below zero.
		seconds := min((cost-level)/(m.rate/slower), b.Reset.Seconds())
		floor, ok = max(floor, time.Duration(seconds*float64(time.Second))), true
	}
	return floor, ok
}
