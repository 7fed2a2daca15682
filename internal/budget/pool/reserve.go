// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "math"

// Where there are fewer slots than two for each holder none owns any, but no call is to fail because the pool is not there: a
// holder without a lease has one. The pool counts one as in use for each holder that is silent, but no more than half of all,
// so that all together exceed the limit by at most one call for each holder that lost its lease, or has just started,
// while others use all.

// reserve leaves slots to silent holders.
func (p *Pool) reserve(b *purse) {
	n := 0.0
	if b.own() == 0 && b.safeBurst > 0 {
		n = min(float64(max(0, p.silentOf(b)-p.covered(b))), math.Floor(b.Capacity/2))
	}
	if n != b.reserved {
		b.reserved = n
		p.sched.Ensure(p.bucket(b), p.now)
	}
}

// covered counts silent holders of which slots are counted as in use already.
func (p *Pool) covered(b *purse) int {
	if len(p.idle) == 0 {
		return 0
	}
	seen := map[string]bool{}
	for _, s := range p.idle {
		if h := p.holders[s.key.Holder]; s.purse == b && h != nil && h.silent() && (!h.joined || h.budgets[b.Name]) {
			seen[h.name] = true
		}
	}
	return len(seen)
}
