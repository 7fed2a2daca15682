// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// observation is one report being added.
type observation struct {
	now time.Time
	ns  *namespace
	gw  *gateway
	run *run
	// count is false at the first report of a run older than the window: its counters are then where
	// counting starts.
	count bool
	// from is the end of the time that an earlier report told of: what this one adds came after it.
	from time.Time
	// newest is true when no later report of the run was seen: only then do levels count.
	newest bool
}

// started is when the incarnation began, as far as its report tells.
func started(r *wire.Report, now time.Time) (at time.Time, recent bool) {
	up := millis(r.GetUptimeMillis())
	if up == 0 || up > Window {
		return now.Add(-min(up, 365*24*time.Hour)), false
	}
	return now.Add(-up), true
}

func (o *observation) add(r *wire.Report) {
	o.newest = r.GetSequence() >= o.run.sequence
	if o.newest {
		o.run.sequence = r.GetSequence()
		o.run.draining = r.GetDraining()
	}
	for _, rr := range bounded(r.GetRoutes(), wire.MaxRoutes) {
		key := routeKey{rr.GetPolicy(), rr.GetProvider()}
		rt := o.run.route(key)
		if rt == nil {
			continue
		}
		o.route(key, rt, rr)
	}
}

// since is from when on nothing of this run was missed.
func (o *observation) since() time.Time {
	if o.count {
		return o.run.started
	}
	return o.now
}

func (o *observation) route(key routeKey, rt *route, rr *wire.RouteReport) {
	agg := entry(o.ns.policies, key.policy, maxPolicies, o.now, func() *aggregate { return newAggregate(o.since()) })
	if agg == nil {
		return
	}
	agg.touched = o.now
	p := entry(agg.providers, key.provider, maxProviders, o.now, newProvider)
	if p == nil {
		return
	}
	p.touched = o.now
	grew := o.counts(p, rt, rr)
	o.gauges(rt, rr)
	for _, l := range bounded(rr.GetLimits(), wire.MaxLimits) {
		grew = o.limit(limitKey{key, l.GetName()}, p, rt, l) || grew
	}
	for _, l := range bounded(rr.GetLanes(), wire.MaxLanes) {
		grew = o.lane(p, rt, l) || grew
	}
	if grew {
		agg.activity.mark(o.from, o.now)
	}
	for _, m := range bounded(rr.GetModels(), wire.MaxModels) {
		o.model(p, rt, m)
	}
}

// counts, like limit and lane, adds what is new and says whether anything was.
func (o *observation) counts(p *provider, rt *route, rr *wire.RouteReport) (grew bool) {
	for i, v := range routeCounts(rr) {
		delta := grow(&rt.counts[i], amount(float64(v)))
		if delta == 0 {
			continue
		}
		if i == sends {
			rt.lastSend = o.now
		}
		if !o.count {
			continue
		}
		grew = true
		p.counts[i].add(o.now, delta)
		if i == tooLarge {
			p.largest.raise(o.now, amount(float64(rr.GetLargestTooLarge())))
		}
	}
	return grew
}

func (o *observation) gauges(rt *route, rr *wire.RouteReport) {
	if last := instant(rr.GetLastCallUnixMillis(), o.now); last.After(rt.lastCall) {
		rt.lastCall = last
	}
	if rt.lastCall.After(o.run.lastCall) {
		o.run.lastCall = rt.lastCall
	}
	if !o.newest {
		return
	}
	rt.sequence = o.run.sequence
	rt.generation = max(rr.GetGeneration(), 0)
	rt.state = rr.GetState()
	rt.message, rt.code = words(rr.GetStateMessage(), maxMessage), words(rr.GetStateCode(), maxCode)
	rt.waiting, rt.dead = amount(float64(rr.GetDeferredWaiting())), amount(float64(rr.GetDeadLetters()))
	rt.quotaReset = time.Time{}
	if at := rr.GetQuotaResetUnixMillis(); at > 0 && at < o.now.AddDate(1, 0, 0).UnixMilli() {
		rt.quotaReset = time.UnixMilli(at)
	}
}

func (o *observation) limit(key limitKey, p *provider, rt *route, l *wire.LimitReport) (grew bool) {
	s := seen(rt.limits, key.limit, maxLimits)
	agg := entry(p.limits, key.limit, maxLimits, o.now, newLimit)
	if s == nil || agg == nil {
		return false
	}
	agg.touched = o.now
	offered, spent := grow(&s.offered, amount(l.GetOffered())), grow(&s.spent, amount(l.GetSpent()))
	if o.count {
		agg.offered.add(o.now, offered)
		agg.used.add(o.now, spent)
		o.gw.spend(key, o.now, spent)
		grew = offered > 0 || spent > 0
	}
	if !o.newest {
		return grew
	}
	s.sequence = o.run.sequence
	s.level, s.capacity = level(l.GetLevel()), amount(l.GetCapacity())
	s.held, s.reserved = amount(l.GetHeldForLanes()), amount(l.GetReserved())
	s.binding, s.known = l.GetBinding(), l.GetProviderKnown()
	s.atProvider, s.ofProvider = level(l.GetProviderRemaining()), amount(l.GetProviderLimit())
	s.heard(rt.lastSend.Equal(o.now))
	s.providerBinding, s.effective, s.outsiders = l.GetProviderBinding(), fraction(l.GetEffective()), amount(l.GetOutsidersPerSecond())
	return grew
}

// maxUsed bounds the limits of which a pod's own spending is remembered.
const maxUsed = 256

func (g *gateway) spend(key limitKey, now time.Time, spent float64) {
	if spent == 0 {
		return
	}
	r := g.used[key]
	if r == nil {
		if len(g.used) >= maxUsed {
			g.dropIdle(now)
		}
		if len(g.used) >= maxUsed {
			return
		}
		fresh := newRecent()
		r = &fresh
		g.used[key] = r
	}
	r.add(now, spent)
}

func (g *gateway) dropIdle(now time.Time) {
	for k, r := range g.used {
		if r.sum(now) == 0 {
			delete(g.used, k)
		}
	}
}

func (o *observation) lane(p *provider, rt *route, l *wire.LaneReport) (grew bool) {
	s := seen(rt.lanes, l.GetName(), maxLanes)
	agg := entry(p.lanes, l.GetName(), maxLanes, o.now, newLane)
	if s == nil || agg == nil {
		return false
	}
	agg.touched = o.now
	for i, v := range laneCounts(l) {
		if delta := grow(&s.counts[i], v); o.count {
			agg.counts[i].add(o.now, delta)
			grew = grew || delta > 0
		}
	}
	if worst := millis(l.GetWorstWaitMillis()); worst > 0 && o.count {
		agg.worst.raise(o.now, float64(worst/time.Millisecond))
	}
	s.largest = max(s.largest, amount(l.GetLargestCallTokens()))
	if o.newest {
		s.sequence = o.run.sequence
		before := s.queued
		s.queued = amount(float64(l.GetQueued()))
		if o.count && s.queued != before {
			agg.grew.add(o.now, s.queued-before)
		}
		s.oldest = millis(l.GetOldestWaitMillis())
		s.fullness = min(amount(l.GetFullness()), 1)
	}
	return grew
}

func (o *observation) model(p *provider, rt *route, m *wire.ModelTokens) {
	s := seen(rt.models, m.GetModel(), 2*wire.MaxModels)
	if s == nil {
		return
	}
	to := p.model(m.GetModel())
	for i, v := range modelCounts(m) {
		if delta := grow(&s[i], v); o.count {
			to[i] += delta
		}
	}
}
