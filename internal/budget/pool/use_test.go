// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"
	"time"
)

// Whatever was reported, Next is not before now: an owner that waits for it makes progress.
func TestNextIsAhead(t *testing.T) {
	for seed := range int64(100) {
		h := drawHistory(t, seed)
		h.play()
		for _, l := range h.leaders {
			at := l.at(h.now)
			l.Advance(at)
			if next, ok := l.Next(at); ok && !next.After(at) {
				t.Fatalf("seed %d: due %v ago", seed, at.Sub(next))
			}
		}
	}
	// A lease that had ended when it was told.
	p := New(one, Leader{Epoch: 1, First: true}, origin)
	h := &teller{r: Report{Holder: "h"}}
	h.tell(t, p, origin)
	late := origin.Add(8 * time.Second)
	r := h.r
	r.Sequence, r.Term, r.Stamp, r.Lease = 2, h.grant.Term, h.grant.Stamp, time.Second
	if err := p.Report(&r, late); err != nil {
		t.Fatal(err)
	}
	p.Advance(late)
	if next, ok := p.Next(late); !ok || !next.After(late) {
		t.Errorf("due %v ago", late.Sub(next))
	}
}
