// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// origin is where simulated clocks start.
var origin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is somebody's: it started at a true time and runs faster or slower by drift.
type clock struct {
	start time.Duration
	drift float64
}

func (c clock) at(t time.Duration) time.Time {
	return origin.Add(c.start).Add(time.Duration(float64(t-c.start) * (1 + c.drift)))
}

// fate is what a network does to messages.
type fate struct {
	lost, doubled float64
	// delay is the longest but for late ones, which take up to tenfold.
	delay time.Duration
	late  float64
}

// message is on its way to a leader or a holder.
type message struct {
	at     time.Duration
	seq    int
	report *Report
	leader *leading
	grant  *Grant
}

// leading is a leader; it goes on when it was followed by another.
type leading struct {
	clock
	*Pool
	end time.Duration
}

// gateway is a holder and what it has done.
type gateway struct {
	clock
	*Holder
	name string
	cut  bool
	// to is the leader it knows of.
	to    *leading
	taken []Taken
	// cycle is how often it was started.
	cycle   int
	demands []Demand
}

// network is a whole world: a true time, leaders, holders, messages, and what was spent.
type network struct {
	tb       testing.TB
	seed     int64
	rand     *rand.Rand
	cfg      Config
	fate     fate
	now      time.Duration
	leaders  []*leading
	gateways []*gateway
	messages []message
	sent     int
	last     State
	epoch    uint64
	// seen is what a gateway says that the provider has, if anything.
	seen func(g *gateway) []Amount
	// use is what a gateway may touch, outage how it spends without a lease.
	use    func(g *gateway) Use
	outage Outage
	// largest are the largest capacities that were ever in force, by budget. reowned says of slots that holders came to own more or
	// fewer of them by an edit.
	largest map[string]float64
	reowned map[string]bool
	// fastest is the largest drift of a leader's clock.
	fastest float64
	meters  map[string]*meter
	// reported counts reports that arrived.
	reported, crashes int
	// tardy is in how many steps a bound that a grant waits for is published once.
	tardy int
	// parked counts claims that came to wait for that with an Advance, putOff those for which P did not suffice any longer.
	parked, putOff int
}

// meter is the provider's side: what was spent, against a rate.
type meter struct {
	total, least, worst float64
	// rate is in force since a time, when so much had been refilled.
	rate, refilled float64
	since          time.Duration
	// mostRate is the largest that ever was.
	mostRate float64
	// debts are the most that was owed at a time, and what was owed by who crashed.
	owed, lost float64
}

// spend notes a spending; a negative one is a refund. worst is the largest excess over rate·length of any interval.
func (m *meter) spend(now time.Duration, units float64) {
	at := m.refilled + m.rate*(now-m.since).Seconds()
	m.least = min(m.least, m.total-at)
	m.total += units
	m.worst = max(m.worst, m.total-at-m.least)
}

// edit puts another rate in force.
func (m *meter) edit(now time.Duration, rate float64) {
	m.refilled += m.rate * (now - m.since).Seconds()
	m.since, m.rate, m.mostRate = now, rate, max(m.mostRate, rate)
}

func newNetwork(tb testing.TB, seed int64, cfg Config, f fate) *network {
	tb.Helper()
	n := &network{
		tb: tb, seed: seed, rand: rand.New(rand.NewSource(seed)), cfg: cfg.withDefaults(), fate: f,
		meters: map[string]*meter{}, largest: map[string]float64{}, reowned: map[string]bool{}, tardy: 4,
	}
	for _, b := range n.cfg.Budgets {
		n.meters[b.Name] = &meter{rate: b.Rate, mostRate: b.Rate, least: math.Inf(1)}
		n.largest[b.Name] = b.Capacity
	}
	return n
}

func (n *network) fatalf(format string, args ...any) {
	n.tb.Helper()
	n.tb.Fatalf("seed %d, at %v: %s", n.seed, n.now, fmt.Sprintf(format, args...))
}

// lead starts a leader; the one before has ended.
func (n *network) lead(term time.Duration, drift float64) *leading {
	n.epoch++
	l := &leading{clock: clock{n.now, drift}, end: n.now + term}
	by := Leader{Epoch: n.epoch, First: n.epoch == 1, Last: n.last}
	for _, g := range n.gateways {
		if n.use == nil {
			by.Holders = append(by.Holders, g.name)
		}
	}
	l.Pool = New(n.cfg, by, l.at(n.now))
	for _, g := range n.gateways {
		n.welcome(l, g)
	}
	l.Extend(l.at(l.end))
	n.leaders = append(n.leaders, l)
	n.fastest = max(n.fastest, drift)
	if n.rand.Intn(4) > 0 {
		n.publish(l)
	}
	return l
}

// welcome has a leader know a gateway.
func (n *network) welcome(l *leading, g *gateway) {
	if n.use != nil {
		l.Join(g.name, n.use(g), l.at(n.now))
	} else {
		l.Expect(g.name, l.at(n.now))
	}
}

// apply edits the configuration, everywhere at once.
func (n *network) apply(cfg Config) {
	old := n.cfg.Budgets
	n.cfg = cfg.withDefaults()
	for i, b := range n.cfg.Budgets {
		_, was := Safe(old[i], n.cfg.MaxHolders)
		if _, own := Safe(b, n.cfg.MaxHolders); b.Kind == budget.Slots && math.Floor(own) != math.Floor(was) {
			n.reowned[b.Name] = true
		}
		n.largest[b.Name] = max(n.largest[b.Name], b.Capacity)
		if b.Kind == budget.Continuous {
			n.meters[b.Name].edit(n.now, b.Rate)
		}
	}
	for _, l := range n.leaders {
		if !l.Apply(n.cfg, l.at(n.now)) {
			n.fatalf("the budgets are the same")
		}
	}
	var safe []HolderBudget
	for _, b := range n.cfg.Budgets {
		rate, burst := Safe(b, n.cfg.MaxHolders)
		safe = append(safe, HolderBudget{b.Name, b.Kind, rate, burst})
	}
	for _, g := range n.gateways {
		g.Apply(safe, g.at(n.now))
	}
}

func (n *network) publish(l *leading) {
	n.last = l.State(l.at(n.now))
	l.Published(n.last)
}

// leader is the newest one, nil when its time has ended.
func (n *network) leader() *leading {
	if len(n.leaders) == 0 {
		return nil
	}
	if l := n.leaders[len(n.leaders)-1]; n.now < l.end {
		return l
	}
	return nil
}

// join starts a gateway, of a new name or again.
func (n *network) join(g *gateway, drift float64) *gateway {
	fresh := g == nil
	if fresh {
		g = &gateway{name: fmt.Sprint("g", len(n.gateways))}
		n.gateways = append(n.gateways, g)
		for _, l := range n.leaders {
			n.welcome(l, g)
		}
	}
	g.clock = clock{n.now, drift}
	g.cycle++
	g.taken = nil
	cfg := HolderConfig{
		Name: g.name, Incarnation: n.rand.Uint64(), Fresh: fresh, Interval: n.cfg.Interval, TTL: n.cfg.TTL,
		Outage: n.outage,
	}
	for _, b := range n.cfg.Budgets {
		rate, burst := Safe(b, n.cfg.MaxHolders)
		cfg.Budgets = append(cfg.Budgets, HolderBudget{b.Name, b.Kind, rate, burst})
	}
	g.Holder = NewHolder(cfg, g.at(n.now))
	return g
}

// crash ends a gateway with all it had, its calls and what it owed included.
func (n *network) crash(g *gateway, drift float64) {
	for i := range g.pockets {
		k, m := &g.pockets[i], n.meters[g.pockets[i].Name]
		if k.Kind == budget.Slots {
			// Its calls end with it.
			m.spend(n.now, -k.inUse)
			continue
		}
		m.lost += max(0, -k.granted()) + max(0, -k.safe)
	}
	n.crashes++
	n.join(g, drift)
}

// post sends a message, or does not, or twice.
func (n *network) post(m message, cut bool) {
	if cut || n.rand.Float64() < n.fate.lost {
		return
	}
	copies := 1
	if n.rand.Float64() < n.fate.doubled {
		copies = 2
	}
	for range copies {
		n.sent++
		m.seq = n.sent
		m.at = n.now + time.Duration(n.rand.Float64()*float64(n.fate.delay))
		if n.rand.Float64() < n.fate.late {
			m.at += time.Duration(n.rand.Float64() * 10 * float64(n.fate.delay))
		}
		n.messages = append(n.messages, m)
	}
}

// run lets everything happen until a time: messages arrive, reports are made, leaders grant. do is called at every step.
func (n *network) run(until time.Duration, do func()) {
	for n.now < until {
		n.now = min(until, n.next())
		n.arrive()
		if do != nil {
			do()
		}
		for _, g := range n.gateways {
			if at := g.at(n.now); !g.Due(at).After(at) {
				n.report(g)
			}
		}
		for _, l := range n.leaders[max(0, len(n.leaders)-2):] {
			n.grant(l)
		}
	}
}

// next is when something happens; at the latest in a tenth of an interval.
func (n *network) next() time.Duration {
	next := n.now + n.cfg.Interval/10
	for i := range n.messages {
		next = min(next, n.messages[i].at)
	}
	return max(next, n.now+time.Microsecond)
}

func (n *network) arrive() {
	due := n.messages[:0:0]
	rest := n.messages[:0]
	for _, m := range n.messages {
		if m.at <= n.now {
			due = append(due, m)
		} else {
			rest = append(rest, m)
		}
	}
	n.messages = rest
	slices.SortFunc(due, func(a, b message) int { return int(a.at-b.at)*2 + (a.seq - b.seq) })
	for _, m := range due {
		if m.grant == nil {
			if m.leader.Report(m.report, m.leader.at(n.now)) == nil {
				n.reported++
			}
			continue
		}
		for _, g := range n.gateways {
			if g.name == m.grant.Holder && !g.cut {
				g.Receive(m.grant, g.at(n.now))
			}
		}
	}
}

// report sends a gateway's report: to the leader it knows of, which may have ended long ago.
func (n *network) report(g *gateway) {
	r := g.Report(g.demands, g.at(n.now))
	if n.seen != nil {
		r.Seen = n.seen(g)
	}
	if len(n.leaders) == 0 {
		return
	}
	if newest := n.leaders[len(n.leaders)-1]; g.to == nil || n.fate.late == 0 || n.rand.Intn(8) == 0 {
		g.to = newest
	}
	n.post(message{report: &r, leader: g.to}, g.cut)
}

func (n *network) grant(l *leading) {
	at := l.at(n.now)
	n.advance(l)
	if l.Stale() && n.leader() == l && n.rand.Intn(n.tardy) == 0 {
		// That takes a while.
		n.publish(l)
		n.advance(l)
	}
	for _, key := range l.Changed(nil) {
		if g, ok := l.Grant(key, at); ok {
			n.post(message{grant: &g, leader: l}, false)
		}
	}
}

// advance has a leader grant, and fails if it grants more of a budget than P: x ≤ P. A call of more than a shadow has goes when that
// is full.
func (n *network) advance(l *leading) {
	n.tb.Helper()
	at := l.at(n.now)
	l.tick(at)
	l.flush()
	n.putOff += len(l.putOffs)
	type was struct{ level, granted float64 }
	before := make([]was, len(l.purses))
	for i, b := range l.purses {
		before[i] = was{l.level(b), b.granted}
	}
	parked := len(l.parked)
	l.Advance(at)
	n.parked += max(0, len(l.parked)-parked)
	for i, b := range l.purses {
		tol := 1e-6 * (b.Capacity + 1)
		full := b.of != nil && before[i].level >= b.Capacity-tol
		if x := b.granted - before[i].granted; b.Kind == budget.Continuous && x > max(0, before[i].level)+tol && !full {
			n.fatalf("%s: granted %v of P %v", b.Name, x, before[i].level)
		}
	}
}

// take spends, if the gateway may.
func (n *network) take(g *gateway, cost []Amount) bool {
	t, ok := g.Take(cost, g.at(n.now))
	if !ok {
		return false
	}
	g.taken = append(g.taken, t)
	for _, c := range cost {
		n.meters[c.Budget].spend(n.now, c.Units)
	}
	return true
}

// settle ends the oldest call at a part of what it took.
func (n *network) settle(g *gateway, part float64) {
	if len(g.taken) == 0 {
		return
	}
	t := &g.taken[0]
	var actual []Amount
	for _, c := range t.cost {
		if g.pockets[g.byName[c.Budget]].Kind == budget.Continuous {
			actual = append(actual, Amount{c.Budget, c.Units * part})
		}
		n.meters[c.Budget].settle(n.now, c.Units, part, g.pockets[g.byName[c.Budget]].Kind)
	}
	g.Settle(t, actual, g.at(n.now))
	g.taken = g.taken[1:]
	if part > 1 {
		n.owe()
	}
}

// owe notes what is owed by settlements.
func (n *network) owe() {
	for i, b := range n.cfg.Budgets {
		owed := 0.0
		for _, g := range n.gateways {
			owed += max(0, -g.pockets[i].granted()) + max(0, -g.pockets[i].safe)
		}
		n.meters[b.Name].owed = max(n.meters[b.Name].owed, owed)
	}
}

func (m *meter) settle(now time.Duration, units, part float64, kind budget.Kind) {
	if kind == budget.Slots {
		part = 0
	}
	m.spend(now, units*(part-1))
}
