// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

// Ledger keeps what each gateway may hold of one limit: of its rate, or of its slots.
type Ledger struct {
	holders map[string]*holder
}

// holder is one gateway. ceiling is the most it may be acting on: until it confirms a smaller grant, the
// larger one before.
type holder struct{ granted, ceiling float64 }

// Want asks for a part.
type Want struct {
	ID     string
	Amount float64
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger { return &Ledger{holders: map[string]*holder{}} }

// Hold records what a gateway already acts on: a share of an earlier leader's.
func (l *Ledger) Hold(id string, amount float64) {
	h := l.holder(id)
	h.granted = max(h.granted, amount)
	h.ceiling = max(h.ceiling, amount)
}

// Grant gives each what it wants as far as whole allows beside what the others may still hold, and returns
// the grants in the order of wants. Who wants nothing any longer is granted nothing.
func (l *Ledger) Grant(whole float64, wants []Want) []float64 {
	free := whole - l.Held()
	for _, h := range l.holders {
		h.granted = 0
	}
	grants := make([]float64, len(wants))
	for i, w := range wants {
		h := l.holder(w.ID)
		h.granted = max(min(w.Amount, h.ceiling+max(free, 0)), 0)
		if more := h.granted - h.ceiling; more > 0 {
			free -= more
			h.ceiling = h.granted
		}
		grants[i] = h.granted
	}
	return grants
}

// Confirm says that the gateway acts on its newest grant, and still uses so much: slots of calls in flight.
// It returns whether anything became free.
func (l *Ledger) Confirm(id string, inUse float64) bool {
	h := l.holders[id]
	if h == nil || h.ceiling == h.granted {
		return false
	}
	before := h.ceiling
	h.ceiling = max(h.granted, min(h.ceiling, inUse))
	return h.ceiling < before
}

// Granted is a gateway's newest grant.
func (l *Ledger) Granted(id string) float64 {
	if h := l.holders[id]; h != nil {
		return h.granted
	}
	return 0
}

// Has says whether the gateway is known.
func (l *Ledger) Has(id string) bool { return l.holders[id] != nil }

// Drop says that the gateway can hold nothing any longer.
func (l *Ledger) Drop(id string) { delete(l.holders, id) }

// Held is the sum of what the gateways may be acting on.
func (l *Ledger) Held() float64 {
	var sum float64
	for _, h := range l.holders {
		sum += h.ceiling
	}
	return sum
}

func (l *Ledger) holder(id string) *holder {
	h := l.holders[id]
	if h == nil {
		h = &holder{}
		l.holders[id] = h
	}
	return h
}
