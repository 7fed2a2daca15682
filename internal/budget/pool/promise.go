// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// A holder of mode LastGrant goes on at what it was told last to expect. So what it is told is a promise, which the pool
// keeps: what all of them may take without a lease is no more than the rate, and while one is silent the pool refills at the
// rest.

// promise has a holder be told to expect so much, as far as that can be promised, and returns how much.
func (p *Pool) promise(k *book, expected float64) float64 {
	b, h := k.purse, k.account.holder
	others := b.over - h.over[b]*float64(unit(h.known()))
	safe := float64(p.knownAll+b.known) * b.safeRate
	over := min(max(0, expected-b.safeRate), max(0, b.Rate-safe-others))
	// What it was told before may be all that it heard.
	p.owe(h, b, max(over, h.over[b]))
	return b.safeRate + over
}

// owe notes by how much a holder may exceed its safe share of a budget, and of its shadows, without a lease.
func (p *Pool) owe(h *holder, b *purse, over float64) {
	p.setOver(h, b, over)
	for _, s := range h.purses {
		if s.of == b {
			p.setOver(h, s, over)
		}
	}
}

// setOver is owe for one of them.
func (p *Pool) setOver(h *holder, b *purse, over float64) {
	more := over - h.over[b]
	if more == 0 {
		return
	}
	p.touch(b)
	if h.over == nil {
		h.over = map[*purse]float64{}
	}
	h.over[b] = over
	b.over += more * float64(unit(h.known()))
	b.overSilent += more * float64(unit(h.silent()))
}

// heard lowers promises to what a holder has heard by now: it quotes the grant that said so.
func (p *Pool) heard(a *account) {
	if a.holder.outage != OutageLastGrant || a != a.holder.open[len(a.holder.open)-1] {
		return
	}
	for _, k := range a.books {
		if over := max(0, k.expected-k.purse.safeRate); k.told > 0 && a.quoted >= k.told && over < a.holder.over[k.purse] {
			p.owe(a.holder, k.purse, over)
		}
	}
}
