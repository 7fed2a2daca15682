// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// A leader that ends in order names those that it may have granted something. Each that quotes a term of the next one has voided
// what it was granted before and said what it has left, so when all have nothing else is out, and it is not waited for a TTL.

// Heir names an incarnation of a holder in few bytes.
type Heir uint64

func heirOf(k Key) Heir {
	sum := sha256.New()
	sum.Write([]byte(k.Holder))
	sum.Write(binary.BigEndian.AppendUint64(nil, k.Incarnation))
	return Heir(binary.BigEndian.Uint64(sum.Sum(nil)))
}

// Heirs are those that may hold something, in order; false if not all are known, since an earlier leader's may.
func (p *Pool) Heirs(now time.Time) ([]Heir, bool) {
	p.tick(now)
	if p.awaited == nil && p.owesUnknown() {
		return nil, false
	}
	out := make([]Heir, 0, len(p.list)+len(p.awaited))
	for _, a := range p.list {
		out = append(out, heirOf(a.key))
	}
	for h := range p.awaited {
		out = append(out, h)
	}
	slices.Sort(out)
	return slices.Compact(out), true
}

// owesUnknown says whether an earlier leader's holders may have something that no account here has.
func (p *Pool) owesUnknown() bool {
	for _, b := range p.purses {
		if b.Kind == budget.Continuous && b.unknown > 0 {
			return true
		}
	}
	return false
}

// Await has what an earlier leader may have granted end when all of these have been heard of, if that is before a TTL. It is to
// be called at once after Resume, which says how much that is.
func (p *Pool) Await(heirs []Heir, now time.Time) {
	p.tick(now)
	p.awaited = make(map[Heir]bool, len(heirs))
	for _, h := range heirs {
		p.awaited[h] = true
	}
	p.inherited()
	p.flush()
}

// inherit notes that an account's holder goes by what it was told here.
func (p *Pool) inherit(a *account) {
	if p.awaited == nil || a.inherited {
		return
	}
	a.inherited = true
	p.disown(a.key)
}

// disown notes that an incarnation has nothing of an earlier leader any longer.
func (p *Pool) disown(k Key) {
	if p.awaited != nil {
		delete(p.awaited, heirOf(k))
		p.inherited()
	}
}

// inherited ends what may be out when nobody is awaited any longer.
func (p *Pool) inherited() {
	if p.awaited == nil || len(p.awaited) > 0 {
		return
	}
	p.awaited = nil
	for _, b := range p.purses {
		if b.Kind == budget.Continuous && b.unknown > 0 {
			p.touch(b)
			b.unknown = 0
		}
	}
}
