// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"fmt"
	"math/rand"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	perSecond = 1000.0
	burst     = 20_000
	inFlight  = 40
)

// shared is 60,000 tokens a minute with a burst of 20 seconds, 6,000 requests, and 40 calls at once, of which bulk has two fifths.
func shared(outage string) plan.Route {
	return plan.Route{
		Name: "anthropic", Outage: outage,
		Limits: []plan.Limit{
			{Name: "rpm", Budget: plan.Requests, Amount: 6000, WindowSeconds: 60, Burst: 6000},
			{Name: "itpm", Budget: plan.InputTokens, Amount: 60_000, WindowSeconds: 60, Burst: burst},
			{Name: "slots", Budget: plan.InFlight, Amount: inFlight, Burst: inFlight},
		},
		Lanes: []plan.Lane{
			{Name: "bulk", SharePermille: 400, MaxDepth: 50, MaxWaitMillis: 120_000},
			{Name: "default", SharePermille: 600, MaxDepth: 100, MaxWaitMillis: 60_000},
		},
	}
}

// world is members, a pool, and what lies between.
type world struct {
	t       interface{ Fatalf(string, ...any) }
	rand    *rand.Rand
	now     time.Time
	route   plan.Route
	most    int32
	pool    *pool.Pool
	epoch   uint64
	members []*node
	names   int
	mail    []letter

	// loss, twice and delay are the network's; cut loses everything.
	loss, twice float64
	delay       time.Duration
	cut         bool

	// level is what was spent beyond what the rate brings, worst the most of it.
	level, worst float64
	at           time.Time
	spent        float64
	running      int
}

type letter struct {
	at time.Time
	do func()
}

// node is one gateway.
type node struct {
	*Member
	w       *world
	name    string
	dead    bool
	waiting []*admission.Ticket
	going   []*run
	told    []outcome
	refused map[budget.Reason]int
	went    int
	// large are calls of 8,000 and more that went, declined those that were refused in their first seconds.
	large, declined int
}

type outcome struct {
	ticket  *admission.Ticket
	verdict admission.Verdict
}

type run struct {
	ticket *admission.Ticket
	ends   time.Time
}

func newWorld(t interface{ Fatalf(string, ...any) }, seed int64, route plan.Route, most int32) *world {
	w := &world{t: t, rand: rand.New(rand.NewSource(seed)), now: began, at: began, route: route, most: most, delay: 20 * time.Millisecond}
	w.lead()
	return w
}

func (w *world) config() pool.Config {
	c := pool.Config{MaxHolders: int(w.most), Silent: outage(&w.route)}
	for _, l := range w.route.Limits {
		c.Budgets = append(c.Budgets, ledger.Budget(l, w.most))
	}
	for _, l := range w.route.Lanes {
		c.Lanes = append(c.Lanes, ledger.Lane(l))
	}
	return c
}

// lead begins a leadership.
func (w *world) lead() {
	w.epoch++
	by := pool.Leader{Epoch: w.epoch, First: w.epoch == 1}
	if w.pool != nil {
		by.Last = w.pool.State(w.now)
		w.pool.Extend(w.now)
	}
	for _, n := range w.members {
		by.Holders = append(by.Holders, n.name)
	}
	w.pool = pool.New(w.config(), by, w.now)
	w.pool.Published(w.pool.State(w.now))
}

// join starts a gateway, or another incarnation of one.
func (w *world) join(name string, fresh bool) *node {
	w.names++
	n := &node{w: w, name: name, refused: map[budget.Reason]int{}}
	n.Member = New(Options{
		Facts: facts.Facts{Charges: facts.AsProduced}, Holder: name, Incarnation: uint64(w.names), Fresh: fresh,
		Clock: func() time.Time { return w.now }, Decided: func(t *admission.Ticket, v admission.Verdict) { n.told = append(n.told, outcome{t, v}) },
	}, w.route, w.most, w.now)
	w.members = append(w.members, n)
	w.pool.Expect(name, w.now)
	return n
}

// crash ends a gateway without a word; what was under way at the provider stays spent.
func (w *world) crash(i int) {
	n := w.members[i]
	n.dead = true
	w.running -= len(n.going)
	w.members = slices.Delete(w.members, i, i+1)
}

func (w *world) send(do func()) {
	for range 2 {
		if !w.cut && w.rand.Float64() >= w.loss {
			w.mail = append(w.mail, letter{w.now.Add(time.Duration(w.rand.Float64() * float64(2*w.delay))), do})
		}
		if w.rand.Float64() >= w.twice {
			return
		}
	}
}

// tick moves on.
func (w *world) tick(d time.Duration) {
	w.now = w.now.Add(d)
	w.deliver()
	for _, n := range slices.Clone(w.members) {
		n.step()
	}
	w.grant()
}

func (w *world) deliver() {
	due := w.mail[:0:0]
	later := w.mail[:0]
	for _, l := range w.mail {
		if l.at.After(w.now) {
			later = append(later, l)
		} else {
			due = append(due, l)
		}
	}
	w.mail = later
	for _, l := range due {
		l.do()
	}
}

func (w *world) grant() {
	w.pool.Advance(w.now)
	if w.pool.Stale() {
		w.pool.Published(w.pool.State(w.now))
		w.pool.Advance(w.now)
	}
	for _, key := range w.pool.Changed(nil) {
		g, ok := w.pool.Grant(key, w.now)
		if !ok {
			continue
		}
		w.send(func() {
			for _, n := range w.members {
				if n.name == key.Holder {
					n.Receive(&g, w.now)
					n.hear()
				}
			}
		})
	}
}

// step has a node do what is due.
func (n *node) step() {
	w := n.w
	if !n.Due(w.now).After(w.now) {
		r := n.Draw(w.now)
		leader := w.pool
		w.send(func() { _ = leader.Report(&r, w.now) })
	}
	if next, ok := n.Next(w.now); ok && !next.After(w.now) {
		n.Advance(w.now)
	}
	for _, r := range n.going {
		if !r.ends.After(w.now) {
			n.finish(r.ticket)
		}
	}
	n.going = slices.DeleteFunc(n.going, func(r *run) bool { return !r.ends.After(w.now) })
	n.hear()
}

// ask brings a call.
func (n *node) ask(tokens float64, lane int, patience time.Duration) admission.Verdict {
	t := &admission.Ticket{
		Account: admission.Account{Fingerprint: 1, Model: "m"}, Metered: true, Lane: lane, Arrival: n.w.now,
		Estimate: admission.Estimate{Input: tokens, InputAtLeast: tokens}, Bytes: 10,
	}
	if patience > 0 {
		t.Deadline = n.w.now.Add(patience)
	}
	v := n.Enter(t, n.w.now)
	switch v.State {
	case budget.Queued:
		n.waiting = append(n.waiting, t)
	case budget.Admitted:
		n.depart(t)
	default:
		n.refused[v.Reason]++
	}
	n.hear()
	return v
}

// hear takes in what was decided.
func (n *node) hear() {
	for len(n.told) > 0 {
		o := n.told[0]
		n.told = n.told[1:]
		i := slices.Index(n.waiting, o.ticket)
		if i < 0 {
			n.w.t.Fatalf("a ticket that does not wait was decided: %+v", o.verdict)
		}
		n.waiting = slices.Delete(n.waiting, i, i+1)
		if o.verdict.State == budget.Admitted {
			n.depart(o.ticket)
		} else {
			n.refused[o.verdict.Reason]++
			if o.ticket.Estimate.Input >= 8000 && n.w.now.Sub(o.ticket.Arrival) < 5*time.Second {
				n.declined++
			}
		}
	}
}

func (n *node) depart(t *admission.Ticket) {
	w := n.w
	n.went++
	if t.Estimate.Input >= 8000 {
		n.large++
	}
	w.spend(t.Estimate.Input)
	w.running++
	t.Sent = w.now
	n.going = append(n.going, &run{t, w.now.Add(time.Duration(100+w.rand.Intn(2000)) * time.Millisecond)})
}

func (w *world) spend(units float64) {
	w.level = max(0, w.level-perSecond*w.now.Sub(w.at).Seconds()) + units
	w.at = w.now
	w.worst = max(w.worst, w.level)
	w.spent += units
}

// finish settles a call at what it was estimated at, or a bit more or less.
func (n *node) finish(t *admission.Ticket) {
	n.w.running--
	n.ReleaseAt(t, admission.Settlement{Kind: admission.Billed, Usage: usage(t.Estimate.Input)}, n.w.now)
}

func usage(input float64) dialect.Usage {
	u := dialect.Unknown()
	u.Input, u.Output = int64(input), 1
	return u
}

func (n *node) String() string {
	return fmt.Sprintf("%s: went %d, wait %d, refused %v", n.name, n.went, len(n.waiting), n.refused)
}

var settlementNotSent = admission.Settlement{Kind: admission.NotSent}
