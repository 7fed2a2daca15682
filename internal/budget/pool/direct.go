// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "github.com/headgate-dev/headgate/internal/budget"

// A holder whose owner counts what each call takes is charged at every call. So it can be charged by a budget's place, and says
// at once whether that asks for a report.

// Place is where a budget is among the holder's until the next Adopt; -1 if it is none of them.
func (h *Holder) Place(name string) int {
	if i, ok := h.byName[name]; ok {
		return i
	}
	return -1
}

// ChargeAt is Charge by places, of which those below zero are none. It is at the time of the newest call that told one: its owner
// knows that no lease has ended since.
func (h *Holder) ChargeAt(places []int, more []float64) {
	safe := !h.leased()
	for n, i := range places {
		if i >= 0 && i < len(h.pockets) && more[n] != 0 {
			h.correct(i, more[n], safe)
		}
	}
}

// UseAt takes a slot by its budget's place, or gives it back.
func (h *Holder) UseAt(place int, more float64) {
	if place >= 0 && place < len(h.pockets) && h.pockets[place].Kind == budget.Slots {
		h.use(&h.pockets[place], more)
	}
}

// News says whether something came since the last report that asks for another before its time.
func (h *Holder) News() bool { return h.news }
