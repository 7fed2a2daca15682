// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "github.com/headgate-dev/headgate/internal/budget"

// Calls of a gateway end with its process. So what slots it had are free when another incarnation of its name is alive, or when
// it says that it ends. What was granted of other budgets may have been spent meanwhile, and is burnt as ever.

// follows frees the slots of the incarnations before one that quotes what it was told in its term: it has come after them. A
// first report does not say as much, for it may be late, and from one that ended long ago.
func (p *Pool) follows(a *account) {
	for _, b := range a.holder.open {
		if b.term.Opening < a.term.Opening {
			p.freeSlots(b)
		}
	}
	if a.lives {
		return
	}
	a.lives = true
	kept := p.idle[:0]
	for _, s := range p.idle {
		if s.key.Holder != a.key.Holder || s.opening >= a.term.Opening {
			kept = append(kept, s)
			continue
		}
		p.touch(s.purse)
		p.release(s.purse, s)
	}
	clear(p.idle[len(kept):])
	p.idle = kept
}

// followed says whether a later incarnation is alive.
func (a *account) followed() bool {
	for _, b := range a.holder.open {
		if b.lives && b.term.Opening > a.term.Opening {
			return true
		}
	}
	return false
}

// freeSlots takes back all slots of an account.
func (p *Pool) freeSlots(a *account) {
	for _, k := range a.books {
		n := float64(len(k.slots))
		if k.purse.Kind != budget.Slots || n == 0 {
			continue
		}
		p.touchBook(k)
		before := max(0, k.outstanding())
		p.giveBackSlots(k, n)
		k.returned += n
		k.purse.returned += n
		p.fall(k, before, true)
	}
}
