// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package drawer

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Options are who a gateway is and what it does.
type Options struct {
	// URL is the coordinator's, whose host its certificate names; CA verifies that.
	URL string
	CA  []byte
	// Dial reaches an address, nil as usual.
	Dial                func(ctx context.Context, network, address string) (net.Conn, error)
	Token               string
	Namespace, Pod, UID string
	// Policy and Provider are the route that it draws on; Lane is that of its calls, empty the default.
	Policy, Provider, Lane string
	// Fresh says that the pod had no gateway before.
	Fresh bool
	Load  Load
	Heard Heard
}

// Load is what a gateway's calls take of each limit that counts tokens; of requests and slots each takes one.
type Load struct {
	// Small calls of Tokens each come PerSecond; 0 is none.
	PerSecond, Tokens float64
	// Bulk is the size of large calls, of which one always waits; 0 is none.
	Bulk float64
}

// Heard is told what happens; nil parts are not. It is called by several goroutines, and must not wait.
type Heard struct {
	// Spent is told of what goes to the provider.
	Spent func(limit string, units float64, at time.Time)
	// Answered is told how long a draw took until its grant came.
	Answered func(time.Duration)
	// Acknowledged is told when a plan was put in force and that was said.
	Acknowledged func(revision int64, at time.Time)
}

// queue bounds the small calls that wait; further ones give up.
const queue = 20

// Drawer is one incarnation of a gateway.
type Drawer struct {
	opts        Options
	incarnation uint64
	began       time.Time

	mu       sync.Mutex
	holder   *pool.Holder
	limits   []plan.Limit
	revision int64
	// connected: a stream's own loop makes the calls.
	connected bool
	waiting   float64
	came      time.Time
	number    uint64
	drawn     map[uint64]time.Time
	sequence  uint64
	calls     uint64
	spent     map[string]float64
	wake      chan struct{}
}

// New makes a gateway that is not connected yet.
func New(opts Options) *Drawer {
	if opts.Lane == "" {
		opts.Lane = plan.DefaultLane
	}
	now := time.Now()
	d := &Drawer{
		opts: opts, incarnation: rand.Uint64(), began: now, came: now, number: 1,
		drawn: map[uint64]time.Time{}, spent: map[string]float64{}, wake: make(chan struct{}, 1),
	}
	d.holder = pool.NewHolder(pool.HolderConfig{Name: opts.Pod + "/" + opts.UID, Incarnation: d.incarnation, Fresh: opts.Fresh}, now)
	return d
}

// SetLoad changes what it does.
func (d *Drawer) SetLoad(l Load) {
	d.mu.Lock()
	d.opts.Load, d.came, d.waiting = l, time.Now(), 0
	d.mu.Unlock()
	d.poke()
}

// Leased says whether it may spend what it was granted, Revision which plan is in force.
func (d *Drawer) Leased() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.holder.Leased(time.Now())
}

// Revision is that of the plan in force.
func (d *Drawer) Revision() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.revision
}

// Spent is what it spent of a limit.
func (d *Drawer) Spent(limit string) float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.spent[limit]
}

func (d *Drawer) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// adopt puts a plan in force; false if it is no newer one.
func (d *Drawer) adopt(revision int64, json []byte, now time.Time) bool {
	p, err := plan.Parse(json)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil || revision <= d.revision {
		return false
	}
	d.revision = revision
	for _, policy := range p.Policies {
		for _, r := range policy.Routes {
			if policy.Name != d.opts.Policy || r.Name != d.opts.Provider {
				continue
			}
			var budgets []pool.HolderBudget
			for _, l := range r.Limits {
				budgets = append(budgets, ledger.Holder(l, policy.MaxGateways))
			}
			d.limits = r.Limits
			d.holder.Adopt(budgets, pool.OutageSafe, now)
		}
	}
	return true
}

// cost is what a call of so many tokens takes.
func (d *Drawer) cost(tokens float64) (cost []pool.Amount) {
	for _, l := range d.limits {
		units := tokens
		if l.Budget == plan.Requests || l.Budget == plan.InFlight {
			units = 1
		}
		cost = append(cost, pool.Amount{Budget: l.Name, Units: units})
	}
	return cost
}

// spend makes the calls that can go now, and returns when the next one comes.
func (d *Drawer) spend(now time.Time) time.Time {
	load := d.opts.Load
	if dt := now.Sub(d.came).Seconds(); dt > 0 {
		d.waiting = min(queue, d.waiting+dt*load.PerSecond)
		d.came = now
	}
	if len(d.limits) == 0 {
		return now.Add(time.Second)
	}
	for d.waiting >= 1 && d.take(d.cost(load.Tokens), now) {
		d.waiting--
	}
	if _, granted := d.holder.Granted(d.opts.Lane, d.limits[0].Name); load.Bulk > 0 && granted >= d.number && d.take(d.cost(load.Bulk), now) {
		d.number++
	}
	if load.PerSecond <= 0 {
		return now.Add(time.Second)
	}
	missing := 1 - (d.waiting - float64(int(d.waiting)))
	return now.Add(max(time.Duration(missing/load.PerSecond*float64(time.Second)), time.Millisecond))
}

func (d *Drawer) take(cost []pool.Amount, now time.Time) bool {
	taken, ok := d.holder.Take(cost, now)
	if !ok {
		return false
	}
	d.holder.Settle(&taken, nil, now)
	d.calls++
	for _, c := range cost {
		d.spent[c.Budget] += c.Units
		if d.opts.Heard.Spent != nil {
			d.opts.Heard.Spent(c.Budget, c.Units, now)
		}
	}
	return true
}

// demand is what it needs until the next draw is answered.
func (d *Drawer) demand() pool.Demand {
	load, out := d.opts.Load, pool.Demand{Lane: d.opts.Lane}
	calls := d.waiting + 2*load.PerSecond
	for i, c := range d.cost(load.Tokens) {
		if d.limits[i].Budget != plan.InFlight {
			c.Units *= calls
		} else if load.Bulk <= 0 && calls <= 0 {
			c.Units = 0 // else one slot: calls last no time
		}
		if c.Units > 0 {
			out.Small = append(out.Small, c)
		}
	}
	if load.Bulk > 0 {
		out.Bulk, out.Cost = d.number, d.cost(load.Bulk)
	}
	return out
}
