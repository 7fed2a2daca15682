// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"sync"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// Constants of the estimate.
const (
	// bytesPerToken errs between -30 % (base64) and +104 % (Russian); the correction learns the rest.
	bytesPerToken = 3
	// unlearnedSlack divides an estimate that nothing is known of to its lower bound.
	unlearnedSlack = 2.1
	// learnedSlack does it once settledSamples calls of the model were billed.
	learnedSlack   = 1.25
	settledSamples = 8
	// alpha weighs a new sample: a change of traffic is followed within some twenty calls.
	alpha = 0.1
	// The correction's bounds: prompts that are read from a cache almost whole may cost next to nothing.
	minCorrection = 0.02
	maxCorrection = 4
	// defaultOutput is what a call reserves that states no maximum, before anything is learned.
	defaultOutput = 256
	// maxModels bounds what is learned; further models share one entry.
	maxModels  = 64
	otherModel = "other"
)

// Estimate is what a call is expected to be charged.
type Estimate struct {
	Input, InputAtLeast float64
	Output              float64
	// text is the uncorrected estimate of the text parts, 0 where media makes learning useless.
	text float64
}

// Estimator learns, per model, what calls turn out to cost.
type Estimator struct {
	charges facts.Charges

	mu     sync.Mutex
	models map[string]*learned
}

type learned struct {
	correction float64
	inputs     int
	outputMean float64
	outputVar  float64
	outputs    int
	inFlight   int
}

// NewEstimator returns an estimator for a provider that charges so.
func NewEstimator(charges facts.Charges) *Estimator {
	return &Estimator{charges: charges, models: map[string]*learned{}}
}

// modelLocked returns the entry of model; mu is held.
func (e *Estimator) modelLocked(model string) *learned {
	if l, ok := e.models[model]; ok {
		return l
	}
	if len(e.models) >= maxModels {
		model = otherModel
		if l, ok := e.models[model]; ok {
			return l
		}
	}
	l := &learned{correction: 1}
	e.models[model] = l
	return l
}

// Of estimates a request.
func (e *Estimator) Of(r *dialect.Request) Estimate {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.modelLocked(r.Model)
	text := float64(r.TextBytes) / bytesPerToken
	est := Estimate{Input: math.Ceil(text*l.correction) + float64(r.MediaTokens)}
	slack := unlearnedSlack
	if l.inputs >= settledSamples {
		slack = learnedSlack
	}
	est.InputAtLeast = math.Floor(text * l.correction / slack)
	if r.MediaTokens == 0 {
		est.text = text
	}
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
	e.modelLocked(model).inFlight++
}

func (e *Estimator) ended(model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.modelLocked(model).inFlight--
}

// Learn takes in what a call was charged; negative is unknown.
func (e *Estimator) Learn(model string, est Estimate, input, output float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.modelLocked(model)
	if input >= 0 && est.text >= 1 {
		l.correction = clamp(blend(l.correction, input/est.text, l.inputs), minCorrection, maxCorrection)
		l.inputs++
	}
	if output >= 0 {
		d := output - l.outputMean
		l.outputMean = blend(l.outputMean, output, l.outputs)
		l.outputVar = blend(l.outputVar, d*(output-l.outputMean), l.outputs)
		l.outputs++
	}
}

// Correction is the mean of the learned factors, 1 before anything is learned.
func (e *Estimator) Correction() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum, n := 0.0, 0
	for _, l := range e.models {
		if l.inputs > 0 {
			sum += l.correction
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}

// blend is an average at first and an EWMA later.
func blend(old, sample float64, samples int) float64 {
	a := max(alpha, 1/float64(samples+1))
	return old + a*(sample-old)
}

func clamp(v, lo, hi float64) float64 { return max(lo, min(v, hi)) }
