// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package referee

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// Provider is one route's.
type Provider struct {
	cfg        workload.Provider
	facts      dialect.Facts
	charges    dialect.Charges
	rejected   bool
	limits     []limit
	overloaded bool
	outsiders  map[string]float64
}

// limit is a true bucket; calls in flight have slots in place of a meter.
type limit struct {
	workload.Limit
	meter
	slots *slots
}

// Request is what a call asks of a provider.
type Request struct {
	Input, Output, MaxTokens float64
}

// Verdict is an answer.
type Verdict struct {
	// Status is 200, 429 or 529. A refusal has its headers and body here; a success has headers when it begins.
	Status int
	Header http.Header
	Body   []byte
	// RetryAfter is what the header asks for; valid if Waits.
	RetryAfter time.Duration
	Waits      bool
	// Hold is what an admitted call has.
	Hold *Hold
}

// Hold is an admitted call: it is finished exactly once.
type Hold struct {
	p        *Provider
	request  Request
	produced float64
}

// New returns a provider whose buckets are at level, 0 to 1.
func New(cfg workload.Provider, facts dialect.Facts, level float64, now time.Time) *Provider {
	p := &Provider{cfg: cfg, facts: facts, charges: facts.Charges, rejected: facts.ChargesRejected, outsiders: map[string]float64{}}
	if cfg.Charges != "" {
		p.charges = dialect.Charges(cfg.Charges)
	}
	if cfg.ChargesRejected != nil {
		p.rejected = *cfg.ChargesRejected
	}
	for _, l := range cfg.Limits {
		at := limit{Limit: l}
		switch {
		case l.Budget == plan.InFlight:
			at.slots = &slots{n: l.Amount}
		case l.Shape == workload.Fixed:
			at.meter = newFixed(l.Burst, l.Window, cfg.ClockSkew, l.Burst*level, now)
		default:
			at.meter = bucket.New(l.Burst, l.Amount/l.Window.Seconds(), l.Burst*level, now)
		}
		p.limits = append(p.limits, at)
	}
	return p
}

// Overload has the provider answer 529, or ends that.
func (p *Provider) Overload(on bool) { p.overloaded = on }

// Arrive judges a call. draw is from [0, 1): whether the answer tells anything is by chance.
func (p *Provider) Arrive(r Request, now time.Time, draw float64) Verdict {
	if p.overloaded {
		return p.overload(now)
	}
	short := p.shortest(r, now)
	if short == nil {
		return Verdict{Status: http.StatusOK, Hold: p.take(r, now)}
	}
	if p.rejected {
		for i := range p.limits {
			if l := &p.limits[i]; l.Budget == plan.Requests {
				l.Take(now, 1)
			}
		}
	}
	return p.throttle(short, r, now, p.tells(draw))
}

// shortest is the limit that the call has to wait for longest; nil if it may go. Every arrival counts, whatever is
// said to it.
func (p *Provider) shortest(r Request, now time.Time) (short *limit) {
	var longest time.Duration
	for i := range p.limits {
		l := &p.limits[i]
		if l.slots != nil {
			if !l.slots.fits() && short == nil {
				short = l
			}
			continue
		}
		cost := p.atAdmission(l.Budget, r)
		l.Arrive(now, cost)
		if l.Fits(now, cost) { // a call of no cost waits for a debt to be over
			continue
		}
		wait, ok := l.Until(now, cost)
		if !ok {
			wait = 1<<63 - 1
		}
		if short == nil || wait > longest {
			short, longest = l, wait
		}
	}
	return short
}

// atAdmission is what the call takes of a budget when it is let in.
func (p *Provider) atAdmission(budget string, r Request) float64 {
	output := 0.0
	if p.charges != dialect.AsProduced {
		output = allowed(r)
	}
	return sum(budget, r.Input, output)
}

// allowed is the most output that a request admits. Who states none is taken at its word.
func allowed(r Request) float64 {
	if r.MaxTokens > 0 {
		return r.MaxTokens
	}
	return r.Output
}

func sum(budget string, input, output float64) float64 {
	switch budget {
	case plan.Requests:
		return 1
	case plan.InputTokens:
		return input
	case plan.OutputTokens:
		return output
	case plan.Tokens:
		return input + output
	}
	return 0
}

func (p *Provider) take(r Request, now time.Time) *Hold {
	for i := range p.limits {
		if l := &p.limits[i]; l.slots != nil {
			l.slots.take(1)
		} else {
			l.Take(now, p.atAdmission(l.Budget, r))
		}
	}
	return &Hold{p: p, request: r}
}

// Produce tells that the call has made so much output in all; where output is charged as it is made, it is now.
func (h *Hold) Produce(output float64, now time.Time) {
	more := output - h.produced
	if more <= 0 {
		return
	}
	h.produced = output
	if h.p.charges != dialect.AsProduced {
		return
	}
	h.p.output(more, now, true)
}

// Finish ends the call; what was estimated is corrected where the provider does that.
func (h *Hold) Finish(now time.Time) {
	for i := range h.p.limits {
		if l := &h.p.limits[i]; l.slots != nil {
			l.slots.take(-1)
		}
	}
	if h.p.charges == dialect.EstimateThenActual {
		h.p.output(h.produced-allowed(h.request), now, false)
	}
}

// output charges output beyond what was taken at admission.
func (p *Provider) output(tokens float64, now time.Time, arrives bool) {
	for i := range p.limits {
		l := &p.limits[i]
		if l.Budget != plan.OutputTokens && l.Budget != plan.Tokens {
			continue
		}
		if arrives {
			l.Arrive(now, tokens)
		}
		l.Take(now, tokens)
	}
}

// Outsiders take what others use of the account in so many seconds, as far as it is there: they are refused too.
func (p *Provider) Outsiders(o *workload.Outsiders, seconds float64, now time.Time) {
	for i := range p.limits {
		l := &p.limits[i]
		if l.slots != nil {
			continue
		}
		want := sum(l.Budget, o.InputTokensPerSecond, o.OutputTokensPerSecond) * seconds
		if l.Budget == plan.Requests {
			want = o.CallsPerSecond * seconds
		}
		if got := min(want, l.Level(now)); got > 0 {
			l.Take(now, got)
			p.outsiders[l.Name] += got
		}
	}
}
