// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"slices"
	"time"
)

// holder is what is known of a name, over its incarnations.
type holder struct {
	name     string
	expected bool
	open     []*account
	// connected counts those of its accounts that surely have a lease.
	connected int
	// budgets and lanes are what it may touch, purses the budgets and the shadows which that charges. If all is, they are
	// nil.
	joined         bool
	budgets, lanes map[string]bool
	purses         []*purse
	outage         Outage
	// over is by budget how much more than its safe share it may take without a lease, by what it was told.
	over map[*purse]float64
}

// silent says whether the holder may be taking its safe share.
func (h *holder) silent() bool { return h.known() && h.connected == 0 }

func (h *holder) known() bool { return h.expected || len(h.open) > 0 }

func (h *holder) mayTouch(b *purse) bool { return !h.joined || h.budgets[b.Name] }

func (h *holder) mayAsk(lane string) bool { return !h.joined || h.lanes[lane] }

// Expect says that a holder of the name exists. Until it is heard of, its safe share is left to it.
func (p *Pool) Expect(name string, now time.Time) {
	p.tick(now)
	p.expect(name)
	p.flush()
}

func (p *Pool) expect(name string) {
	if h := p.holder(name); h != nil {
		p.change(h, func() { h.expected = true })
	}
}

// Join says that a holder of the name exists, and what it may touch. A later one replaces what it may touch from then on;
// what it has it keeps.
func (p *Pool) Join(name string, use Use, now time.Time) {
	p.tick(now)
	h := p.holder(name)
	if h == nil {
		return
	}
	p.count(h, -unit(h.known()), -unit(h.silent()))
	h.expected, h.joined, h.outage = true, true, max(use.Outage, p.cfg.Silent)
	if h.outage != OutageLastGrant {
		h.over = nil
	}
	h.budgets, h.lanes = set(use.Budgets, maxBudgets), set(use.Lanes, maxLanes)
	p.follow(h)
	p.count(h, unit(h.known()), unit(h.silent()))
	p.flush()
}

func set(names []string, most int) map[string]bool {
	out := make(map[string]bool, min(len(names), most))
	for _, name := range names[:min(len(names), most)] {
		out[name] = true
	}
	return out
}

// follow finds the budgets and shadows of a holder that joined.
func (p *Pool) follow(h *holder) {
	h.purses = nil
	for name := range h.budgets {
		b := p.byName[name]
		if b == nil || b.of != nil {
			continue
		}
		h.purses = append(h.purses, b)
		for lane := range h.lanes {
			if i, ok := p.lanes[lane]; ok {
				for _, s := range b.charged[i] {
					if !slices.Contains(h.purses, s) {
						h.purses = append(h.purses, s)
					}
				}
			}
		}
	}
}

// Forget says that the holder of the name is deleted: it spends nothing any longer, and takes no safe share. What it
// held is spent when its TTL has passed.
func (p *Pool) Forget(name string, now time.Time) {
	p.tick(now)
	if h := p.holders[name]; h != nil {
		p.change(h, func() { h.expected = false })
		p.drop(h)
	}
	p.flush()
}

// change changes what is known of a holder, and has its budgets know.
func (p *Pool) change(h *holder, do func()) {
	knew, was := h.known(), h.silent()
	do()
	p.count(h, unit(h.known())-unit(knew), unit(h.silent())-unit(was))
}

func unit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// count adds a holder to those that a holder's budgets know, and to the silent.
func (p *Pool) count(h *holder, known, silent int) {
	if known == 0 && silent == 0 {
		return
	}
	p.silent += silent
	if !h.joined {
		p.touchAll()
		p.knownAll += known
		p.silentAll += silent
	}
	for _, b := range h.purses {
		p.touch(b)
		b.known += known
		b.silent += silent
	}
	for b, over := range h.over {
		p.touch(b)
		b.over += over * float64(known)
		b.overSilent += over * float64(silent)
	}
}

// holder returns what is known of a name; nil when there are too many.
func (p *Pool) holder(name string) *holder {
	h := p.holders[name]
	if h == nil && len(p.holders) < maxHolders {
		h = &holder{name: name, outage: p.cfg.Silent}
		p.holders[name] = h
	}
	return h
}

// drop forgets a name of which nothing is known.
func (p *Pool) drop(h *holder) {
	if !h.known() {
		delete(p.holders, h.name)
	}
}
