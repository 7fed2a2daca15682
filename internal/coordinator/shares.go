// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator/divide"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

// learning is how long a new leader only lets gateways keep what they have: others may still hold shares
// of the leader before.
const learning = wire.ShareTTL + leaseSlack

// divide gives every gateway of the namespace its part; mu is held.
func (s *Server) divide(sp *space, now time.Time) {
	sp.stale = false
	members := sp.sorted()
	// A division costs a message to everyone: the more there are, the rarer.
	sp.notBefore = now.Add(min(tick+time.Duration(len(members))*time.Millisecond, keepAlive))
	parts := map[*member]map[divide.Key]divide.Part{}
	for _, m := range members {
		parts[m] = map[divide.Key]divide.Part{}
	}
	for _, r := range sp.routes {
		sharers, lapsed := sp.sharers(members, r, now)
		seen := largestSeen(sharers, r.key)
		for _, l := range r.route.Limits {
			d := division{
				limit: l, key: divide.Key{Policy: r.key.policy, Provider: r.key.provider, Limit: l.Name},
				largest: divide.Largest(l, r.route.Lanes, seen), safe: divide.SafeRate(l, r.policy.MaxGateways),
				frozen: !s.lead.learned,
			}
			d.rate = max(divide.Rate(l)-float64(lapsed)*d.safe, divide.Rate(l)/2)
			sp.divideLimit(d, sharers, parts)
		}
	}
	for _, m := range members {
		m.update(parts[m])
	}
}

// division is one limit that is divided.
type division struct {
	key     divide.Key
	limit   plan.Limit
	rate    float64 // less what gateways on the safe share take
	largest float64
	safe    float64
	frozen  bool // no gateway may get more than it had
}

// sharers are the members that a route governs and that have a share or may get one; lapsed counts the
// others, which take the safe share.
func (sp *space) sharers(members []*member, r *planRoute, now time.Time) (sharers []*member, lapsed int) {
	for _, m := range members {
		for _, g := range m.governed {
			if g != r {
				continue
			}
			if m.leased(now) {
				sharers = append(sharers, m)
			} else {
				lapsed++
			}
		}
	}
	return sharers, lapsed
}

func largestSeen(members []*member, key routeKey) (largest float64) {
	for _, m := range members {
		largest = max(largest, m.largest[key])
	}
	return largest
}

func (sp *space) divideLimit(d division, sharers []*member, parts map[*member]map[divide.Key]divide.Part) {
	ledger := sp.ledgers[d.key]
	if ledger == nil && len(sharers) == 0 {
		return
	}
	if ledger == nil {
		ledger = divide.NewLedger()
		sp.ledgers[d.key] = ledger
	}
	slots := d.limit.Budget == plan.InFlight
	targets := make([]divide.Part, len(sharers))
	wants := make([]divide.Want, len(sharers))
	for i, m := range sharers {
		targets[i] = divide.Of(d.limit, d.rate, len(sharers), i, d.largest)
		wants[i] = divide.Want{ID: m.id(), Amount: quantity(targets[i], slots)}
		m.bringHeld(ledger, d, slots)
		if d.frozen || m.stream == nil { // it cannot be told of more
			wants[i].Amount = min(wants[i].Amount, ledger.Granted(m.id()))
		}
	}
	for i, granted := range ledger.Grant(divide.Whole(d.limit, d.rate, len(sharers)), wants) {
		if part, ok := d.part(targets[i], granted, slots, sharers[i].held[d.key]); ok {
			parts[sharers[i]][d.key] = part
		}
	}
}

// quantity is what the ledger keeps of a part.
func quantity(p divide.Part, slots bool) float64 {
	if slots {
		return p.Capacity
	}
	return p.RatePerSecond
}

// bringHeld enters what a gateway still has from an earlier leader, once.
func (m *member) bringHeld(ledger *divide.Ledger, d division, slots bool) {
	held, ok := m.held[d.key]
	if !ok || ledger.Has(m.id()) {
		return
	}
	whole := divide.Whole(d.limit, divide.Rate(d.limit), 1)
	ledger.Hold(m.id(), min(quantity(held, slots), whole))
}

// part is what the gateway is told; nothing while the safe share is more than what can be granted yet.
func (d division) part(target divide.Part, granted float64, slots bool, held divide.Part) (divide.Part, bool) {
	want := quantity(target, slots)
	if slots {
		granted = math.Floor(granted)
		target.Capacity = granted
		return target, granted >= min(want, 1)
	}
	target.RatePerSecond = granted
	if d.frozen && held.Capacity > 0 {
		target.Capacity = min(target.Capacity, held.Capacity)
	}
	return target, granted >= min(want, d.safe)
}

// update puts a member's parts in force if they differ.
func (m *member) update(parts map[divide.Key]divide.Part) {
	if m.stream == nil || m.parts != nil && maps.Equal(parts, m.parts) {
		return
	}
	m.parts = parts
	m.sequence++
	m.stream.shareDue = true
	m.stream.poke()
}

// share is the message that carries a member's parts. From now on it may hold them for the TTL.
func (m *member) share(epoch uint64, now time.Time) *wire.Down {
	m.lastShare = now
	share := &wire.Share{
		Epoch: epoch, Incarnation: m.incarnation, Sequence: m.sequence,
		TtlMillis: wire.ShareTTL.Milliseconds(),
	}
	for key, p := range m.parts {
		share.Limits = append(share.Limits, &wire.LimitShare{
			Policy: key.Policy, Provider: key.Provider, Limit: key.Limit,
			RatePerSecond: p.RatePerSecond, Capacity: p.Capacity,
		})
	}
	return &wire.Down{Message: &wire.Down_Share{Share: share}}
}

// confirm lets others have what the member gave up, once it says that it acts on its newest share; slots
// of calls in flight stay its own until they end. A rate is in use no longer than it is acted on: what calls
// have reserved of a bucket was paid for already.
func (sp *space) confirm(m *member, report *wire.Report) {
	for key, ledger := range sp.ledgers {
		used := 0.0
		if sp.countsSlots(key) {
			used = inUse(report, key)
		}
		if ledger.Confirm(m.id(), used) {
			sp.stale = true
		}
	}
}

// countsSlots says whether what is divided of a limit are slots.
func (sp *space) countsSlots(key divide.Key) bool {
	r := sp.routes[routeKey{key.Policy, key.Provider}]
	return r != nil && slices.ContainsFunc(r.route.Limits, func(l plan.Limit) bool {
		return l.Name == key.Limit && l.Budget == plan.InFlight
	})
}

// inUse is what a report says calls hold of a limit.
func inUse(report *wire.Report, key divide.Key) float64 {
	for _, r := range report.GetRoutes() {
		if r.GetPolicy() != key.Policy || r.GetProvider() != key.Provider {
			continue
		}
		for _, l := range r.GetLimits() {
			if l.GetName() == key.Limit && l.GetReserved() > 0 {
				return l.GetReserved()
			}
		}
	}
	return 0
}
