// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

// flow counts what was sent to one of the provider's buckets and what of it was answered, since the mirror was last at
// rest. Two sums are a full record of the calls in flight: what was not answered when a call was sent, or was sent
// later, is all that was sent by now less what was answered by then.
type flow struct {
	sent, answered volume
	inFlight       int
	// held is what was reserved and is not settled.
	held      volume
	unsettled int
	// spent is all that was taken by now as far as known, corrected when calls settle.
	spent float64
}

// volume is a sum of costs, and the sum of their squares, for the error of estimates that are independent.
type volume struct{ cost, squares float64 }

func (v *volume) add(cost float64) { v.cost, v.squares = v.cost+cost, v.squares+cost*cost }

// passage is one send's part of a flow.
type passage struct {
	cost float64
	// answered is what was answered when it was sent, spent what had been spent, itself included.
	answered   volume
	spent      float64
	open, held bool
}

func (f *flow) send(cost float64) passage {
	cost = clamp(cost, 0, largestCost)
	f.sent.add(cost)
	f.inFlight++
	f.held.add(cost)
	f.unsettled++
	f.spent += cost
	return passage{cost: cost, answered: f.answered, spent: f.spent, open: true, held: true}
}

// answer notes that the provider has taken a send in: nothing of it can come later. Further calls change nothing.
func (f *flow) answer(p *passage) {
	if !p.open {
		return
	}
	p.open = false
	f.inFlight--
	f.answered.add(p.cost)
	if f.inFlight == 0 {
		// Sums of floats drift, and grow for years.
		f.sent, f.answered = volume{}, volume{}
	}
}

// settle notes what a send cost in the end. Further calls change nothing.
func (f *flow) settle(p *passage, actual float64) {
	f.answer(p)
	if !p.held {
		return
	}
	p.held = false
	f.spent += clamp(actual, 0, largestCost) - p.cost
	f.unsettled--
	if f.unsettled == 0 {
		f.held = volume{}
		return
	}
	f.held = volume{max(0, f.held.cost-p.cost), max(0, f.held.squares-p.cost*p.cost)}
}

// after is what may have reached the provider after a report on p was written: all that was not answered when p was
// sent, and all that was sent since, p itself apart where it is counted in the report.
func (f *flow) after(p *passage, counted bool) volume {
	v := volume{f.sent.cost - p.answered.cost, f.sent.squares - p.answered.squares}
	if counted {
		v.cost, v.squares = v.cost-p.cost, v.squares-p.cost*p.cost
	}
	return volume{max(0, v.cost), max(0, v.squares)}
}
