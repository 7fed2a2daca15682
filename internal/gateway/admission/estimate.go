// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"math"
	"slices"
	"sync"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/tokens"
	"github.com/headgate-dev/headgate/internal/plan"
)

const (
	// blindSlack divides the estimate of a text of which only the length is known to its lower bound.
	blindSlack = 2.1
	// unlearnedSlack does it where its characters were seen, but not what the model's vocabulary makes of them.
	unlearnedSlack = 1.5
	// learnedSlack does it once settledSamples calls of the model were billed, or three deviations if they are more.
	learnedSlack   = 1.25
	settledSamples = 8
	deviations     = 3
	// defaultOutput is what a call reserves that states no maximum, before anything is learned.
	defaultOutput = 256
)

// Estimate is what a call is expected to be charged.
type Estimate struct {
	Input, InputAtLeast float64
	Output              float64
	// text and media are what was expected before anything learned was applied; class is the size among those whose
	// share of cached input is learned together.
	text, media float64
	continues   bool
	class       class
	// others are models that the call may turn out to be of, beside its own; many says of any.
	others [dialect.MaxOthers]string
	many   bool
}

// MayBeOf says whether limits of the models that globs name count a call: no writing of its body is to lead to another
// model than the one that is counted.
func (t *Ticket) MayBeOf(globs []string) bool {
	is := func(model string) bool {
		return model != "" && slices.ContainsFunc(globs, func(glob string) bool { return plan.Glob(glob, model) })
	}
	return t.Estimate.many || slices.ContainsFunc(globs, func(glob string) bool { return plan.Glob(glob, t.Account.Model) }) ||
		slices.ContainsFunc(t.Estimate.others[:], is)
}

// Charge is what a call turned out to take; negative is unknown.
type Charge struct {
	// Input is all input the provider processed, Charged what its limits were charged of it.
	Input, Charged float64
	Output         float64
}

// Estimator learns, per model, what calls turn out to cost.
type Estimator struct {
	charges facts.Charges

	mu     sync.Mutex
	models models
}

// NewEstimator returns an estimator for a provider that charges so.
func NewEstimator(charges facts.Charges) *Estimator {
	return &Estimator{charges: charges, models: models{byName: map[string]*learned{}}}
}

// charge says that the provider charges so from now on.
func (e *Estimator) charge(as facts.Charges) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.charges = as
}

// Of estimates a request: the text by what its characters suggest, the media by their constants, each times the
// model's factor, what every call takes beside them, what the provider has stored of the prompt, and of all that the share that is not read from a cache for
// nothing.
func (e *Estimator) Of(r *dialect.Request) Estimate {
	est := Estimate{
		text: float64(r.TextBytes) * cmp.Or(r.TokensPerByte, tokens.PerByte), media: float64(r.MediaTokens),
		continues: r.Continues, others: r.Others, many: r.Many,
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.models.of(r.Model)
	all := l.overhead + est.text*l.text.mean + est.media*l.media.mean
	if r.Continues {
		all += l.stored
	}
	est.class = classOf(all, r.MarksCache)
	share, least := l.charged(est.class)
	est.Input = math.Ceil(all * share)
	est.InputAtLeast = math.Floor(est.text * l.text.least(r.TokensPerByte > 0) * least)
	est.Output = math.Ceil(e.output(l, r))
	return est
}

// output is the reservation for output: what the request allows where the provider takes that much at
// once, else the learned mean with this call's part of one margin shared by the calls in flight,
// 2σ√n / n.
func (e *Estimator) output(l *learned, r *dialect.Request) float64 {
	choices := float64(max(r.Choices, 1))
	limit := math.Inf(1)
	if r.MaxOutputTokens > 0 {
		limit = float64(r.MaxOutputTokens) * choices
	}
	if e.charges == facts.MaxAtAdmission && !math.IsInf(limit, 1) {
		return limit
	}
	if l.outputs == 0 {
		return min(defaultOutput*choices, limit)
	}
	margin := 2 * math.Sqrt(l.outputVar/float64(max(l.inFlight, 1)))
	return min(l.outputMean*choices+margin, limit)
}

// started and ended count the calls in flight of a model, for the shared margin.
func (e *Estimator) started(model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.models.of(model).inFlight++
}

func (e *Estimator) ended(model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	// Of a model that shared an entry with others the start was counted there.
	l := e.models.of(model)
	l.inFlight = max(l.inFlight-1, 0)
}

// Learn takes in what a call was charged.
func (e *Estimator) Learn(model string, est Estimate, c Charge) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.models.of(model)
	if c.Input >= 0 {
		l.learnInput(est, c)
	}
	if c.Output >= 0 {
		l.learnOutput(c.Output)
	}
}

// Correction is the mean of the models' factors between what texts suggest and what was charged for them, 1 before
// anything is learned.
func (e *Estimator) Correction() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum, n := 0.0, 0
	for _, l := range e.models.byName {
		if l.overall.samples > 0 {
			sum += l.overall.mean
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}
