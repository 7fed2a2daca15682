// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Holder is one incarnation of a gateway. It is not safe for concurrent use.
type Holder struct {
	cfg   HolderConfig
	start time.Time
	now   time.Time

	pockets []pocket
	byName  map[string]int

	term  Term
	stamp int64
	seq   uint64
	// sent are the times of the newest reports.
	sent [remembered]sending
	// lease is when the right to spend ends, safe since when the safe share has been its own.
	lease, safe time.Time
	recall      bool
	draining    bool
	// bulk are the newest large calls that were granted, by lane, and since when.
	bulk map[string]uint64
	lots map[string]time.Time
	// outlooks are what was said of how lanes stand.
	outlooks outlooks
	// left are budgets that made room for others: see Adopt.
	left []left
	// told is when it last reported, news that something came since which asks for another report.
	told time.Time
	news bool
}

// remembered is how many reports may be under way.
const remembered = 128

type sending struct {
	seq uint64
	at  time.Time
}

// HolderConfig is who a holder is, and what it takes while it hears nothing.
type HolderConfig struct {
	Name        string
	Incarnation uint64
	Budgets     []HolderBudget
	Interval    time.Duration
	TTL         time.Duration
	// Fresh says that no incarnation of this name was before. Another waits for a TTL until it takes the safe share: the
	// pool may think that the one before has its lease.
	Fresh bool
	// Outage is how it spends without a lease; OutageOpen is its owner's business, and as OutageSafe here.
	Outage Outage
}

// HolderBudget is one budget; SafeRate and SafeBurst are what Safe says.
type HolderBudget struct {
	Name                string
	Kind                budget.Kind
	SafeRate, SafeBurst float64
}

// pocket is what a holder has of one budget.
type pocket struct {
	HolderBudget
	// total is what was granted in the term, lanes what of it to which lane.
	total float64
	lanes map[string]float64
	// spent, returned and refunded are as in Count; said is the largest spent that was reported.
	spent, said, returned, refunded float64
	// safe is the level of the safe share.
	safe float64
	// inUse are slots.
	inUse float64
	// spare is what was not needed at the last report.
	spare float64
	// low is the balance below which an early report is due.
	low float64
	// expected is as in Grant; bound says that it was told.
	expected float64
	bound    bool
}

// NewHolder starts an incarnation.
func NewHolder(cfg HolderConfig, now time.Time) *Holder {
	full := Config{Interval: cfg.Interval, TTL: cfg.TTL}.withDefaults()
	cfg.Interval, cfg.TTL = full.Interval, full.TTL
	h := &Holder{cfg: cfg, start: now, now: now, safe: now, byName: map[string]int{}, bulk: map[string]uint64{}, lots: map[string]time.Time{}, outlooks: outlooks{}}
	if !cfg.Fresh {
		h.safe = now.Add(time.Duration(float64(cfg.TTL) * (1 + slack)))
	}
	for i, b := range cfg.Budgets[:min(len(cfg.Budgets), maxBudgets)] {
		b.SafeRate, b.SafeBurst = clean(b.SafeRate), clean(b.SafeBurst)
		h.pockets = append(h.pockets, pocket{HolderBudget: b, lanes: map[string]float64{}})
		h.byName[b.Name] = i
	}
	return h
}

// tick brings the safe share up to now. It grows only without a lease.
func (h *Holder) tick(now time.Time) {
	if !now.After(h.now) {
		return
	}
	from := h.now
	h.now = now
	for _, t := range []time.Time{h.lease, h.safe} {
		if from.Before(t) {
			from = t
		}
	}
	dt := now.Sub(from).Seconds()
	for i := range h.pockets {
		switch k := &h.pockets[i]; {
		case k.Kind == budget.Slots:
		case h.lease.After(now):
			k.safe = min(k.safe, 0)
		case dt > 0:
			k.safe = min(k.SafeBurst, k.safe+h.safeRate(k)*dt)
		}
	}
}

// safeRate is how fast the safe share grows.
func (h *Holder) safeRate(k *pocket) float64 {
	if h.cfg.Outage == OutageLastGrant {
		return max(k.SafeRate, k.expected)
	}
	return k.SafeRate
}

// Leased says whether the holder may spend what it was granted.
func (h *Holder) Leased(now time.Time) bool {
	h.tick(now)
	return h.leased()
}

func (h *Holder) leased() bool { return h.lease.After(h.now) && !h.draining }

// Balance is what may be spent of a budget now: what was granted, or without a lease the safe share. It is below zero
// while something is owed.
func (h *Holder) Balance(name string, now time.Time) float64 {
	h.tick(now)
	i, ok := h.byName[name]
	if !ok {
		return 0
	}
	return h.balance(&h.pockets[i])
}

func (h *Holder) balance(k *pocket) float64 {
	switch {
	case h.draining:
		return 0
	case k.Kind == budget.Slots && h.leased():
		return min(k.own()+k.total-k.returned, k.mayKeep()) - k.inUse
	case k.Kind == budget.Slots:
		return math.Ceil(k.SafeBurst) - k.inUse
	case h.leased():
		return math.Round(k.granted()/grain) * grain
	}
	return k.safe
}

const (
	// grain is what sums of what was granted and spent are rounded to, so that what was granted for a call suffices for it.
	grain = 1.0 / (1 << 20)
	// coarse is what the cost of a large call is rounded up to, for the same reason.
	coarse = 1.0 / (1 << 10)
)

// rounded is a cost as it is asked for.
func rounded(cost []Amount) []Amount {
	out := append([]Amount(nil), cost...)
	for i := range out {
		out[i].Units = math.Ceil(out[i].Units/coarse) * coarse
	}
	return out
}

// own are slots that are the holder's whatever it is granted.
func (k *pocket) own() float64 { return math.Floor(k.SafeBurst) }

// mayKeep is how many slots it may have; as calls end it lets go of the others.
func (k *pocket) mayKeep() float64 {
	if !k.bound {
		return math.Inf(1)
	}
	return k.expected
}

// granted is what is left of the grants.
func (k *pocket) granted() float64 { return k.total - k.spent - k.returned }

// Granted is what was granted to a lane in the term, cumulatively, and the number of its newest bulk call. It grows with
// each grant and starts anew with each term.
func (h *Holder) Granted(lane, name string) (units float64, bulk uint64) {
	if i, ok := h.byName[name]; ok {
		units = h.pockets[i].lanes[lane]
	}
	return units, h.bulk[lane]
}

// Term is the newest the holder has heard of.
func (h *Holder) Term() Term { return h.term }
