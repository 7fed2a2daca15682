// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// Options are what the gateways run.
type Options struct {
	// Policy has the routes of the workload.
	Policy *plan.Policy
	// Fleet shares a route among several gateways; nil is fixed parts.
	Fleet FleetMaker
}

// Maker makes Headgate's gateways for a world.
func Maker(o Options) world.Maker {
	return func(w *world.World) world.Client { return newClient(o, w) }
}

// Client is all gateways of a world.
type Client struct {
	w         *world.World
	policy    plan.Policy
	routes    []*route
	byName    map[string]*route
	instances []*instance
	crashes   int
}

var _ world.Governed = (*Client)(nil)

// route is what all gateways have of one provider.
type route struct {
	plan  plan.Route
	fleet Fleet // nil for a lone gateway
	lanes []laneFigures
}

// laneFigures are what became of a lane's calls, of all gateways.
type laneFigures struct {
	admitted, refused, most int
	longest                 time.Duration
}

// instance is one gateway, until it crashes.
type instance struct {
	index int
	gates map[string]*gate
	drift float64
	jobs  []*job
	dead  bool
	// leaving gets no new calls.
	leaving bool
}

func newClient(o Options, w *world.World) *Client {
	c := &Client{w: w, policy: *o.Policy, byName: map[string]*route{}}
	several := mostGateways(w.Workload()) > 1
	for i := range c.policy.Routes {
		r := &route{plan: c.policy.Routes[i]}
		r.plan.Limits = append([]plan.Limit(nil), r.plan.Limits...)
		r.lanes = make([]laneFigures, len(r.plan.Lanes))
		if !w.Has(r.plan.Name) {
			continue
		}
		if several {
			r.fleet = c.fleetOf(o, r)
		}
		c.routes = append(c.routes, r)
		c.byName[r.plan.Name] = r
	}
	c.Scale(w.Workload().Gateways.Count)
	return c
}

// mostGateways is how many there are at most at once.
func mostGateways(wl *workload.Workload) int {
	n := wl.Gateways.Count
	for i := range wl.Events {
		n = max(n, wl.Events[i].Scale)
	}
	return n
}

func (c *Client) fleetOf(o Options, r *route) Fleet {
	env := Env{
		Clock: c.w.Clock(), Chance: c.w.Chance, Gateways: c.w.Workload().Gateways, Facts: c.w.Facts(r.plan.Name),
		Route: r.plan, MaxGateways: max(c.policy.MaxGateways, int32(mostGateways(c.w.Workload()))),
		Wake: func(gateway int) { c.wake(gateway, r.plan.Name) },
	}
	if o.Fleet == nil || env.Gateways.Sharing == workload.Divided {
		return newDivided(env)
	}
	return o.Fleet(env)
}

func (c *Client) wake(gateway int, route string) {
	if gateway >= len(c.instances) || c.instances[gateway] == nil {
		return
	}
	if g := c.instances[gateway].gates[route]; g != nil { // nil while it joins
		g.wake()
	}
}

// Offer implements world.Client.
func (c *Client) Offer(call *world.Call) {
	at := c.instances[min(call.Gateway, len(c.instances)-1)]
	if at.leaving {
		at = c.instances[0] // the last one does not leave
	}
	at.gates[call.Route].offer(call)
}

// Scale implements world.Governed. Those that are too many go on with what they have and get nothing new.
func (c *Client) Scale(n int) {
	for i := range n {
		switch {
		case i == len(c.instances):
			c.instances = append(c.instances, nil)
			c.start(i, n)
		case c.instances[i].leaving:
			c.replace(i, n)
		}
	}
	for _, inst := range c.instances[n:] {
		inst.leaving = true
		inst.left(c)
	}
}

// start starts an incarnation of a gateway.
func (c *Client) start(i, n int) {
	inst := &instance{index: i, gates: map[string]*gate{}, drift: drift(c.w.Workload().Gateways.ClockDriftPPM, i, n)}
	c.instances[i] = inst
	for _, r := range c.routes {
		inst.gates[r.plan.Name] = newGate(c, inst, r)
	}
}

// drift is by how much a gateway's clock runs fast: they lie evenly around the truth, and a single one is fast.
func drift(ppm float64, i, n int) float64 {
	if n <= 1 {
		return ppm / 1e6
	}
	return ppm / 1e6 * (1 - 2*float64(i)/float64(n-1))
}

// Crash implements world.Governed.
func (c *Client) Crash(gateway int) {
	if gateway >= len(c.instances) {
		return
	}
	c.crashes++
	c.replace(gateway, len(c.instances))
}

// replace ends an incarnation and starts another, which finds the calls that were put off in their store.
func (c *Client) replace(i, n int) {
	old := c.instances[i]
	c.end(old)
	c.start(i, n)
	for _, r := range c.routes {
		c.instances[i].gates[r.plan.Name].inherit(old.gates[r.plan.Name])
	}
}

// end ends an incarnation with all that it knows.
func (c *Client) end(inst *instance) {
	inst.dead = true
	for _, r := range c.routes {
		if r.fleet != nil {
			r.fleet.Crash(inst.index)
		}
	}
	lost := inst.jobs
	inst.jobs = nil
	for _, j := range lost {
		j.index = -1
		if j.later == nil {
			c.w.End(j.call, world.Outcome{Kind: world.Failed, Reason: world.ReasonCrash})
		}
	}
}

// left takes an incarnation that has nothing to do any more out of its fleets.
func (i *instance) left(c *Client) {
	if !i.leaving || i.dead || len(i.jobs) > 0 {
		return
	}
	i.dead = true
	for _, r := range c.routes {
		if r.fleet != nil {
			r.fleet.Leave(i.index)
		}
	}
}

// Partition implements world.Governed.
func (c *Client) Partition(cut bool) {
	for _, r := range c.routes {
		if r.fleet != nil {
			r.fleet.Partition(cut)
		}
	}
}

// Edit implements world.Governed. Where burst is the amount, it stays so.
func (c *Client) Edit(limit string, amount int64) {
	for _, r := range c.routes {
		changed := false
		for i := range r.plan.Limits {
			l := &r.plan.Limits[i]
			if l.Name != limit {
				continue
			}
			if l.Burst == l.Amount {
				l.Burst = amount
			}
			l.Amount, changed = amount, true
		}
		if changed {
			c.configure(r)
		}
	}
}

func (c *Client) configure(r *route) {
	edited := r.plan
	edited.Limits = append([]plan.Limit(nil), r.plan.Limits...)
	if r.fleet != nil {
		r.fleet.Configure(edited)
	}
	for _, inst := range c.instances {
		if g := inst.gates[r.plan.Name]; !inst.dead && r.fleet == nil {
			g.adm.Configure(edited, c.policy.MaxGateways, g.now())
			g.settled()
		}
	}
}

// Sample implements world.Governed.
func (c *Client) Sample(queue func(route, lane string, waiting int)) {
	for _, r := range c.routes {
		waiting := make([]int, len(r.lanes))
		for _, inst := range c.instances {
			if inst.dead {
				continue
			}
			for _, j := range inst.jobs {
				if j.g.route == r && j.queued {
					waiting[j.ticket.Lane]++
				}
			}
		}
		for i, n := range waiting {
			r.lanes[i].most = max(r.lanes[i].most, n)
			queue(r.plan.Name, r.plan.Lanes[i].Name, n)
		}
	}
}

// Finish implements world.Governed.
func (c *Client) Finish(into *world.Findings) {
	into.Gateways.Crashes = c.crashes
	for _, r := range c.routes {
		lanes := map[string]*result.Lane{}
		for i := range r.lanes {
			f := &r.lanes[i]
			lanes[r.plan.Lanes[i].Name] = &result.Lane{
				Admitted: f.admitted, Refused: f.refused, LongestWait: f.longest.Seconds(), QueuedAtMost: f.most,
			}
		}
		into.Lanes[r.plan.Name] = lanes
		if r.fleet == nil {
			continue
		}
		grants, units := r.fleet.Burned()
		into.Gateways.GrantsBurned += grants
		for limit, amount := range units {
			if into.Gateways.Burned == nil {
				into.Gateways.Burned = map[string]float64{}
			}
			into.Gateways.Burned[r.plan.Name+"/"+limit] += amount
		}
	}
}

// local is a time by a clock that runs fast by drift.
func local(t time.Time, drift float64) time.Time {
	if drift == 0 {
		return t
	}
	since := t.Sub(clock.Start)
	return t.Add(time.Duration(float64(since) * drift))
}

// truly is the time at which such a clock shows local, or a moment after it.
func truly(local time.Time, drift float64) time.Time {
	if drift == 0 {
		return local
	}
	since := float64(local.Sub(clock.Start)) / (1 + drift)
	return clock.Start.Add(time.Duration(since) + 1)
}

// account is whom the provider takes a lane's calls to come from: a lane with a key of its own is another.
func (r *route) account(lane int, model string) admission.Account {
	key := r.plan.Lanes[lane].CredentialKey
	fingerprint := uint64(1)
	for i := range lane {
		if key != "" && r.plan.Lanes[i].CredentialKey == key {
			return r.account(i, model)
		}
	}
	if key != "" && key != r.plan.CredentialKey {
		fingerprint += uint64(lane) + 1
	}
	return admission.Account{Fingerprint: fingerprint, Model: model}
}
