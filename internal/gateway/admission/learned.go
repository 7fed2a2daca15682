// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "math"

const (
	// alpha weighs a new sample: a change of traffic is followed within some twenty calls.
	alpha = 0.1
	// prior is the weight of having learned nothing, in samples.
	prior = 0.3
	// shortText is the size from which a text tells its factor. What a provider adds to each call would make the
	// factor of shorter ones a multiple of what long ones have; they tell how much that is.
	shortText = 256
	// maxOverhead bounds it: instructions for tools take some hundred tokens.
	maxOverhead = 2000
	// maxStored bounds what a provider has of a prompt, by the largest contexts there are.
	maxStored = 2_000_000
	// The bounds of a factor, and of one sample of it.
	minFactor = 0.1
	maxFactor = 4
	// minShare is the least that is charged of a prompt that is read from a cache almost whole.
	minShare = 0.02
	// mostlyMedia is the part of text below which a call tells what its media cost, though the text's factor is not
	// known.
	mostlyMedia = 0.25
)

// ratio is a factor that is learned: an average at first and an EWMA later.
type ratio struct {
	mean, variance float64
	samples        int
}

// add takes in what was found in place of what was expected.
func (f *ratio) add(found, expected float64) {
	sample := clamp(found/expected, minFactor, maxFactor)
	a := max(alpha, 1/(float64(f.samples+1)+prior))
	f.samples++
	d := sample - f.mean
	f.mean += a * d
	f.variance += a * (d*(sample-f.mean) - f.variance)
}

// least is the smallest factor that is likely. seen says that the text's characters were looked at.
func (f *ratio) least(seen bool) float64 {
	switch {
	case f.samples >= settledSamples:
		return max(0, min(f.mean/learnedSlack, f.mean-deviations*math.Sqrt(f.variance)))
	case seen:
		return f.mean / unlearnedSlack
	}
	return f.mean / blindSlack
}

// learned is what is known of a model.
type learned struct {
	// text and media are factors on what was expected; overall is charged input over expected text.
	text, media, overall ratio
	// overhead is what each call takes beside what it holds.
	overhead      float64
	overheadCalls int
	// stored is what the provider has of prompts that continue something.
	stored      float64
	storedCalls int
	shares      [classes]share

	outputMean, outputVar float64
	outputs               int
	inFlight              int
	used                  uint64
}

func newLearned() *learned {
	return &learned{text: ratio{mean: 1}, media: ratio{mean: 1}, overall: ratio{mean: 1}}
}

func (l *learned) learnInput(est Estimate, c Charge) {
	if c.Charged >= 0 && c.Input >= 1 {
		l.shares[est.class].add(clamp(c.Charged/c.Input, minShare, 1))
	}
	switch {
	case est.continues:
		sample := clamp(c.Input-l.overhead-est.text*l.text.mean-est.media*l.media.mean, 0, maxStored)
		l.stored = blend(l.stored, sample, l.storedCalls)
		l.storedCalls++
	case est.media > 0:
		l.learnMedia(est, c.Input)
	case est.text < shortText:
		sample := clamp(c.Input-est.text*l.text.mean, 0, maxOverhead)
		l.overhead = blend(l.overhead, sample, l.overheadCalls)
		l.overheadCalls++
	default:
		l.text.add(c.Input-l.overhead, est.text)
		if c.Charged >= 0 {
			l.overall.add(c.Charged, est.text)
		}
	}
}

// learnMedia takes what the text does not explain; of a call that is mostly text only if the text's factor is known.
func (l *learned) learnMedia(est Estimate, input float64) {
	if l.text.samples >= settledSamples || est.text <= est.media*mostlyMedia {
		l.media.add(input-l.overhead-est.text*l.text.mean, est.media)
	}
}

func (l *learned) learnOutput(output float64) {
	d := output - l.outputMean
	l.outputMean = blend(l.outputMean, output, l.outputs)
	l.outputVar = blend(l.outputVar, d*(output-l.outputMean), l.outputs)
	l.outputs++
}

// blend is an average at first and an EWMA later.
func blend(old, sample float64, samples int) float64 {
	a := max(alpha, 1/float64(samples+1))
	return old + a*(sample-old)
}

func clamp(v, lo, hi float64) float64 { return max(lo, min(v, hi)) }
