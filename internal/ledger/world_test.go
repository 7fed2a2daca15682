// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// start is where simulated clocks start.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fate is what a network does to messages.
type fate struct {
	lost, doubled float64
	// delay is the longest but for late ones, which take up to tenfold.
	delay time.Duration
	late  float64
}

var lan = fate{delay: 30 * time.Millisecond}

// message is on its way to a leader or a gateway.
type message struct {
	at     time.Duration
	seq    int
	route  Route
	report *pool.Report
	leader *leading
	grant  *pool.Grant
	to     *gateway
}

// leading is a leader; it goes on when another follows it.
type leading struct {
	*Ledger
	end   time.Duration
	drift float64
	begun time.Duration
	// wrote is when it published told.
	wrote time.Duration
	told  State
}

func (l *leading) at(now time.Duration) time.Time {
	return start.Add(now + time.Duration(float64(now-l.begun)*l.drift))
}

// gateway is a pod: a holder for each of its routes.
type gateway struct {
	w     *world
	name  string
	ns    string
	cut   bool
	draws []*drawing
	// to is the leader that it knows of.
	to *leading
}

// drawing is a gateway's side of one route.
type drawing struct {
	*pool.Holder
	gateway *gateway
	route   Route
	plan    *plan.Route
	loads   []*load
	demands []pool.Demand
	last    time.Duration
}

// load is what one lane offers: small calls at a rate, or one large call after another.
type load struct {
	lane string
	// perSecond small calls of so many tokens.
	perSecond, tokens float64
	// large calls of so many tokens, one waiting at a time, after pauses.
	large float64
	pause time.Duration
	// hoards has what was granted lie, and spent at once now and then.
	hoards bool

	waiting, due float64
	number       uint64
	since        time.Duration
	waits        []time.Duration
	served       float64
}

// world is a true time, leaders, gateways, messages, and what providers see.
type world struct {
	tb       testing.TB
	seed     int64
	rand     *rand.Rand
	fate     fate
	opts     Options
	now      time.Duration
	accounts []Account
	plans    map[string]*plan.Plan
	leaders  []*leading
	gateways []*gateway
	messages []message
	sent     int
	document []byte
	epoch    uint64
	// before is the epoch of the leader before, 0 where that was lost.
	before uint64
	meters map[string]*meter
	// mute has nothing published, tardy is how long a grant waits at the least for that.
	mute  bool
	tardy time.Duration
	// seen is what a gateway says that the provider has, if anything.
	seen func(d *drawing) []pool.Amount
	// waited counts steps in which a grant of some pool waited to be published.
	waited  int
	fastest float64
	crashes int
	drift   func() float64
	// referees see what arrives at the provider, up to jitter after it was sent.
	referees map[string]*referee
	jitter   time.Duration
}

// meter is the provider's side of one limit: what was spent against a rate. Its rate may be edited.
type meter struct {
	rate, total, allowed float64
	at                   time.Duration
	least, worst         float64
	// owed is the most that was owed at a time.
	owed float64
}

func (m *meter) tick(now time.Duration) {
	m.allowed += m.rate * (now - m.at).Seconds()
	m.at = now
}

// spend notes a spending; a negative one is a refund. worst is the largest excess over the refill in any interval.
func (m *meter) spend(now time.Duration, units float64) {
	m.tick(now)
	m.least = min(m.least, m.total-m.allowed)
	m.total += units
	m.worst = max(m.worst, m.total-m.allowed-m.least)
}

func newWorld(tb testing.TB, seed int64, f fate) *world {
	tb.Helper()
	return &world{
		tb: tb, seed: seed, rand: rand.New(rand.NewSource(seed)), fate: f, plans: map[string]*plan.Plan{},
		meters: map[string]*meter{}, opts: Options{Origin: "here"}, tardy: time.Second, drift: func() float64 { return 0 },
	}
}

func (w *world) fatalf(format string, args ...any) {
	w.tb.Helper()
	w.tb.Fatalf("seed %d, at %v: %s", w.seed, w.now, fmt.Sprintf(format, args...))
}

// tokens is a limit of so many a minute, with a burst.
func tokens(name string, perMinute, burst int64) plan.Limit {
	return plan.Limit{Name: name, Budget: plan.InputTokens, Amount: perMinute, WindowSeconds: 60, Burst: burst}
}

func requests(name string, perMinute, burst int64) plan.Limit {
	return plan.Limit{Name: name, Budget: plan.Requests, Amount: perMinute, WindowSeconds: 60, Burst: burst}
}

func lanes(shares ...int32) []plan.Lane {
	out := make([]plan.Lane, 0, len(shares)+1)
	for i, s := range shares[:len(shares)-1] {
		out = append(out, plan.Lane{Name: fmt.Sprint("lane", i), SharePermille: s})
	}
	return append(out, plan.Lane{Name: plan.DefaultLane, SharePermille: shares[len(shares)-1]})
}

// sold sets an account, from the next edit on.
func (w *world) sold(a Account) {
	w.accounts = slices.DeleteFunc(slices.Clone(w.accounts), func(b Account) bool { return b.Name == a.Name })
	w.accounts = append(w.accounts, a)
	for _, l := range a.Limits {
		w.measure(a.Name+":"+l.Name, l)
	}
	for _, l := range w.leaders {
		l.SetAccounts(w.accounts, l.at(w.now))
	}
	for ns := range w.plans {
		w.replan(ns)
	}
}

func (w *world) measure(name string, l plan.Limit) {
	m := w.meters[name]
	if m == nil {
		m = &meter{least: math.Inf(1)}
		w.meters[name] = m
	}
	m.tick(w.now)
	m.rate = Rate(l)
}

// policy sets a namespace's policy of one provider, with an account or own limits or both.
func (w *world) policy(ns, policy, account string, maxGateways int32, shares []plan.Lane, own ...plan.Limit) Route {
	old, p := w.plans[ns], plan.Plan{Namespace: ns}
	if old != nil {
		p.Policies = slices.DeleteFunc(slices.Clone(old.Policies), func(q plan.Policy) bool { return q.Name == policy })
	}
	r := plan.Route{Name: "openai", Account: account, Limits: slices.Clone(own), Lanes: shares}
	p.Policies = append(p.Policies, plan.Policy{Name: policy, MaxGateways: maxGateways, Routes: []plan.Route{r}})
	id := Route{ns, policy, "openai"}
	for _, l := range own {
		w.measure(ownName(id, l.Name), l)
	}
	w.plans[ns] = &p
	w.replan(ns)
	return id
}

// replan writes the accounts' limits into a namespace's plan, as the compiler does, and hands it out.
func (w *world) replan(ns string) {
	p := *w.plans[ns]
	p.Policies = slices.Clone(p.Policies)
	for i := range p.Policies {
		r := p.Policies[i].Routes[0]
		r.Limits = slices.DeleteFunc(slices.Clone(r.Limits), func(l plan.Limit) bool { return l.Account != "" })
		for _, a := range w.accounts {
			if a.Name != r.Account {
				continue
			}
			for _, l := range a.Limits {
				l.Name, l.Account, l.MaxGateways = a.Name+":"+l.Name, a.Name, a.MaxGateways
				r.Limits = append(r.Limits, l)
			}
		}
		p.Policies[i].Routes = []plan.Route{r}
	}
	w.plans[ns] = &p
	for _, l := range w.leaders {
		l.SetPlan(ns, &p, l.at(w.now))
	}
	for _, g := range w.gateways {
		if g.ns == ns {
			w.expect(g)
		}
		for _, d := range g.draws {
			if now := w.find(d.route); now != nil && d.plan != now && g.ns == ns {
				d.plan = now
				d.Adopt(d.budgets(), pool.OutageSafe, w.clock())
			}
		}
	}
}

// expect tells the newest leader of a gateway, again after each edit.
func (w *world) expect(g *gateway) {
	for _, l := range w.leaders {
		for _, d := range g.draws {
			l.Expect(d.route, g.name, l.at(w.now))
		}
	}
}

func (w *world) find(id Route) *plan.Route {
	p := w.plans[id.Namespace]
	if p == nil {
		return nil
	}
	for i := range p.Policies {
		if p.Policies[i].Name == id.Policy {
			return &p.Policies[i].Routes[0]
		}
	}
	return nil
}

func (w *world) maxGateways(id Route) int32 {
	for _, p := range w.plans[id.Namespace].Policies {
		if p.Name == id.Policy {
			return p.MaxGateways
		}
	}
	return 1
}

// clock is the gateways'.
func (w *world) clock() time.Time { return start.Add(w.now) }

// lead starts a leader; the one before has ended.
func (w *world) lead(term time.Duration) *leading {
	w.epoch++
	l := &leading{Ledger: New(w.opts), end: w.now + term, drift: w.drift(), begun: w.now}
	w.fastest = max(w.fastest, l.drift)
	by := Leadership{Epoch: w.epoch, Before: w.before, First: w.epoch == 1}
	w.before = w.epoch
	if w.document != nil {
		last, err := ParseState(w.document)
		if err != nil {
			w.fatalf("the document is not read: %v", err)
		}
		by.Last = last
	}
	now := l.at(w.now)
	l.SetAccounts(w.accounts, now)
	for ns, p := range w.plans {
		l.SetPlan(ns, p, now)
	}
	l.Lead(by, now)
	l.Extend(l.at(l.end))
	w.leaders = append(w.leaders, l)
	for _, g := range w.gateways {
		w.expect(g)
	}
	w.publish(l)
	return l
}

func (w *world) publish(l *leading) {
	if w.mute {
		return
	}
	s := l.State(l.at(w.now))
	data, err := s.Encode()
	if err != nil {
		w.fatalf("%v", err)
	}
	w.document = data
	l.Published(s)
	w.advance(l)
	l.wrote, l.told = w.now, s
}

// publishing writes as the coordinator does: soon when a grant waits for it, now and then when there is something new.
func (w *world) publishing(l *leading) {
	since := w.now - l.wrote
	if l.Stale() && since >= w.tardy {
		w.publish(l)
	} else if since >= 30*time.Second {
		l.wrote = w.now
		if s := l.State(l.at(w.now)); !s.Same(&l.told) {
			w.publish(l)
		}
	}
}

func (w *world) leader() *leading {
	if len(w.leaders) == 0 {
		return nil
	}
	if l := w.leaders[len(w.leaders)-1]; w.now < l.end {
		return l
	}
	return nil
}

// follow ends the leader as one does that loses its lease, and starts another after a while.
func (w *world) follow(pause time.Duration) {
	if l := w.leader(); l != nil {
		l.end = w.now
		l.Extend(l.at(w.now))
	}
	w.goOn(pause)
	w.lead(1000 * time.Hour)
}

// hand ends the leader in order, if there is one that leads.
func (w *world) hand() {
	l := w.leader()
	if l == nil {
		return
	}
	last := l.Hand(l.at(w.now))
	l.end = w.now
	if data, err := last.Encode(); err != nil {
		w.fatalf("%v", err)
	} else if !w.mute {
		w.document = data
	}
}

// relieve ends the leader in order, and starts another after a while.
func (w *world) relieve(pause time.Duration) {
	w.hand()
	w.goOn(pause)
	w.lead(1000 * time.Hour)
}

// join starts a gateway with all of the routes, or again one that crashed.
func (w *world) join(name string, routes ...Route) *gateway {
	g := &gateway{w: w, name: name, ns: routes[0].Namespace}
	w.gateways = append(w.gateways, g)
	for _, r := range routes {
		d := &drawing{gateway: g, route: r, plan: w.find(r), last: w.now}
		g.draws = append(g.draws, d)
		d.begin(true)
	}
	w.expect(g)
	return g
}

func (d *drawing) budgets() []pool.HolderBudget {
	var out []pool.HolderBudget
	for _, l := range d.plan.Limits {
		out = append(out, Holder(l, d.gateway.w.maxGateways(d.route)))
	}
	return out
}

func (d *drawing) begin(fresh bool) {
	w := d.gateway.w
	cfg := pool.HolderConfig{Name: d.gateway.name, Incarnation: w.rand.Uint64(), Fresh: fresh, Budgets: d.budgets()}
	d.Holder = pool.NewHolder(cfg, w.clock())
	for _, o := range d.loads {
		o.number = 0
	}
}

// crash restarts a gateway's container: it loses all it had.
func (w *world) crash(g *gateway) {
	w.crashes++
	for _, d := range g.draws {
		for _, l := range d.plan.Limits {
			if m := w.meters[d.meter(l.Name)]; m != nil && l.Budget != plan.InFlight {
				m.owed += max(0, -d.Balance(l.Name, w.clock()))
			}
		}
		d.begin(false)
	}
}

// leave ends a gateway in order: it gives back what it has.
func (w *world) leave(g *gateway) {
	for _, d := range g.draws {
		r := d.Drain(w.clock())
		if len(w.leaders) > 0 {
			w.post(message{route: d.route, report: &r, leader: w.leaders[len(w.leaders)-1]}, g.cut)
		}
	}
	w.gateways = slices.DeleteFunc(w.gateways, func(other *gateway) bool { return other == g })
	gone := w.now + time.Second
	w.messages = append(w.messages, message{at: gone, to: g})
}

// meter names what a provider counts by.
func (d *drawing) meter(limit string) string {
	if strings.Contains(limit, ":") {
		return limit
	}
	return ownName(d.route, limit)
}

// post sends a message, or does not, or twice.
func (w *world) post(m message, cut bool) {
	if cut || w.rand.Float64() < w.fate.lost {
		return
	}
	copies := 1
	if w.rand.Float64() < w.fate.doubled {
		copies = 2
	}
	for range copies {
		w.sent++
		m.seq = w.sent
		m.at = w.now + time.Duration(w.rand.Float64()*float64(w.fate.delay))
		if w.rand.Float64() < w.fate.late {
			m.at += time.Duration(w.rand.Float64() * 10 * float64(w.fate.delay))
		}
		w.messages = append(w.messages, m)
	}
}

const step = 100 * time.Millisecond

// goOn lets everything happen for a while: messages arrive, calls are made, reports sent, and leaders grant.
func (w *world) goOn(d time.Duration) {
	for until := w.now + d; w.now < until; {
		next := min(until, w.now+step)
		for i := range w.messages {
			next = min(next, w.messages[i].at)
		}
		w.now = max(next, w.now+time.Microsecond)
		w.arrive()
		for _, g := range w.gateways {
			for _, d := range g.draws {
				d.act()
				if !d.Due(w.clock()).After(w.clock()) {
					w.report(d)
				}
			}
		}
		for _, l := range w.leaders[max(0, len(w.leaders)-2):] {
			w.grant(l)
		}
	}
}

func (w *world) arrive() {
	due, rest := w.messages[:0:0], w.messages[:0]
	for _, m := range w.messages {
		if m.at <= w.now {
			due = append(due, m)
		} else {
			rest = append(rest, m)
		}
	}
	w.messages = rest
	slices.SortFunc(due, func(a, b message) int { return int(a.at-b.at)*2 + (a.seq - b.seq) })
	for _, m := range due {
		switch {
		case m.report != nil:
			_ = m.leader.Report(m.route, m.report, m.leader.at(w.now))
		case m.grant != nil:
			for _, d := range m.to.draws {
				if d.route == m.route && !m.to.cut {
					d.Receive(m.grant, w.clock())
				}
			}
		default:
			for _, l := range w.leaders {
				for _, d := range m.to.draws {
					l.Forget(d.route, m.to.name, l.at(w.now))
				}
			}
		}
	}
}

func (w *world) report(d *drawing) {
	r := d.Report(d.demands, w.clock())
	if w.seen != nil {
		r.Seen = w.seen(d)
	}
	if len(w.leaders) == 0 {
		return
	}
	g := d.gateway
	if newest := w.leaders[len(w.leaders)-1]; g.to == nil || w.fate.late == 0 || w.rand.Intn(8) == 0 {
		g.to = newest
	}
	w.post(message{route: d.route, report: &r, leader: g.to}, g.cut)
}

func (w *world) grant(l *leading) {
	at := l.at(w.now)
	w.advance(l)
	if w.leader() == l {
		w.publishing(l)
	}
	for _, to := range l.Changed(nil) {
		g, ok := l.Grant(to, at)
		if !ok {
			continue
		}
		for _, gw := range w.gateways {
			if gw.name == to.Holder && gw.ns == to.Route.Namespace {
				w.post(message{route: to.Route, grant: &g, to: gw}, false)
			}
		}
	}
}

// advance has a leader grant, and fails if a pool grants more of a limit than its level: x ≤ P.
func (w *world) advance(l *leading) {
	w.tb.Helper()
	at := l.at(w.now)
	if !l.leading {
		return
	}
	l.settle(at)
	before := map[*shared][]pool.BudgetFigures{}
	for _, s := range l.pools {
		if s.pool.Stale() {
			w.waited++
		}
		before[s] = s.pool.Figures(at).Budgets
	}
	l.Advance(at)
	for s, of := range before {
		for i, b := range s.pool.Figures(at).Budgets {
			place, ok := s.places[b.Name]
			if !ok || s.cfg.Budgets[place].Kind != budget.Continuous {
				continue
			}
			tol := 1e-6 * (s.cfg.Budgets[place].Capacity + 1)
			if x := b.Granted - of[i].Granted; x > max(0, of[i].Level)+tol {
				w.fatalf("%v %s: granted %v of P %v", s.key, b.Name, x, of[i].Level)
			}
		}
	}
}

// take spends, if the gateway may.
func (d *drawing) take(units float64) bool {
	w := d.gateway.w
	var cost []pool.Amount
	for _, l := range d.plan.Limits {
		c := units
		if l.Budget == plan.Requests || l.Budget == plan.InFlight {
			c = 1
		}
		cost = append(cost, pool.Amount{Budget: l.Name, Units: c})
	}
	t, ok := d.Take(cost, w.clock())
	if !ok {
		return false
	}
	for i, l := range d.plan.Limits {
		if l.Budget != plan.InFlight {
			w.meters[d.meter(l.Name)].spend(w.now, cost[i].Units)
			if r := w.referees[d.meter(l.Name)]; r != nil {
				r.arrivals = append(r.arrivals, arrival{w.now + time.Duration(w.rand.Float64()*float64(w.jitter)), cost[i].Units})
			}
		}
	}
	d.Settle(&t, nil, w.clock())
	return true
}

func (d *drawing) amounts(calls, units float64) []pool.Amount {
	var out []pool.Amount
	for _, l := range d.plan.Limits {
		switch l.Budget {
		case plan.Requests:
			out = append(out, pool.Amount{Budget: l.Name, Units: calls})
		case plan.InFlight:
		default:
			out = append(out, pool.Amount{Budget: l.Name, Units: units})
		}
	}
	return out
}

// act makes the calls of all loads.
func (d *drawing) act() {
	dt := (d.gateway.w.now - d.last).Seconds()
	d.last = d.gateway.w.now
	d.demands = d.demands[:0]
	for _, o := range d.loads {
		if o.large > 0 {
			d.actLarge(o)
		} else {
			d.actSmall(o, dt)
		}
	}
}

func (d *drawing) actSmall(o *load, dt float64) {
	o.due += o.perSecond * dt
	for ; o.due >= 1; o.due-- {
		o.waiting++
	}
	if o.hoards {
		if w := d.gateway.w; w.rand.Intn(30) == 0 {
			for range 1000 {
				if !d.take(o.tokens) {
					break
				}
			}
		}
		d.demands = append(d.demands, pool.Demand{Lane: o.lane, Small: d.amounts(1000, 1000)})
		return
	}
	for o.waiting >= 1 && d.take(o.tokens) {
		o.waiting--
		o.served += o.tokens
	}
	// What waits too long is declined.
	o.waiting = min(o.waiting, max(1, o.perSecond*10))
	n := min(o.waiting, 100) + 2*o.perSecond
	d.demands = append(d.demands, pool.Demand{Lane: o.lane, Small: d.amounts(n, n*o.tokens)})
}

// actLarge sends a large call once it was granted.
func (d *drawing) actLarge(o *load) {
	w := d.gateway.w
	if w.now < o.since {
		return
	}
	_, granted := d.Granted(o.lane, "")
	if o.number == 0 {
		o.number, o.since = granted+1, w.now
	}
	if granted >= o.number && d.take(o.large) {
		o.waits = append(o.waits, w.now-o.since)
		o.served += o.large
		o.number = granted + 1
		o.since = w.now + o.pause
		if o.pause > 0 {
			return
		}
	}
	d.demands = append(d.demands, pool.Demand{Lane: o.lane, Bulk: o.number, Cost: d.amounts(1, o.large)})
}

// offer adds a load to a gateway's first route.
func (g *gateway) offer(o *load) *load {
	if o.lane == "" {
		o.lane = plan.DefaultLane
	}
	o.since = g.w.now
	g.draws[0].loads = append(g.draws[0].loads, o)
	return o
}

// check fails if books or balances exceed what there is, or what the provider saw did not conform.
func (w *world) check() {
	w.tb.Helper()
	for key, s := range w.books() {
		f := s.pool.Figures(w.leader().at(w.now))
		for _, b := range f.Budgets {
			i, ok := s.places[b.Name]
			if !ok {
				// A shadow.
				continue
			}
			c := s.cfg.Budgets[i].Capacity
			if s.cfg.Budgets[i].Kind == budget.Continuous && b.Level+b.Held+b.Unknown > c*(1+1e-6)+1e-6 {
				w.fatalf("%v %s: P %v + H %v + unknown %v exceed %v", key, b.Name, b.Level, b.Held, b.Unknown, c)
			}
		}
	}
	for name, limit := range w.limits() {
		w.conforms(name, limit)
	}
}

func (w *world) books() map[Key]*shared {
	if l := w.leader(); l != nil {
		return l.pools
	}
	return nil
}

// limits are all there are, by the names of meters.
func (w *world) limits() map[string]plan.Limit {
	out := map[string]plan.Limit{}
	for _, a := range w.accounts {
		for _, l := range a.Limits {
			out[a.Name+":"+l.Name] = l
		}
	}
	for ns, p := range w.plans {
		for _, policy := range p.Policies {
			for _, l := range policy.Routes[0].Limits {
				if l.Account == "" {
					out[ownName(Route{ns, policy.Name, "openai"}, l.Name)] = l
				}
			}
		}
	}
	return out
}

// conforms fails if some interval saw more than B' + R·length and the debts.
func (w *world) conforms(name string, l plan.Limit) {
	w.tb.Helper()
	m := w.meters[name]
	if l.Budget == plan.InFlight {
		return
	}
	bound := Budget(l, 1).Capacity + m.owed + m.rate*w.fastest*w.now.Seconds()
	if m.worst > bound*(1+1e-6)+1e-6 {
		w.fatalf("%s: an interval saw %v above the refill, B' is %v, owed %v", name, m.worst, Budget(l, 1).Capacity, m.owed)
	}
}

// used is the part of a limit's refill that was spent since a total.
func (w *world) used(meter string, total float64, d time.Duration) float64 {
	m := w.meters[meter]
	return (m.total - total) / (m.rate * d.Seconds())
}
