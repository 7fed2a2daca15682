// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// billed is a call whose input was charged whole.
func billed(input, output float64) Charge {
	return Charge{Input: input, Charged: input, Output: output}
}

func TestEstimateLearnsAndIsBounded(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	r := &dialect.Request{Model: "m", TextBytes: 3000}
	first := e.Of(r)
	if first.Input != 1000 || first.InputAtLeast >= 500 || first.Output != defaultOutput {
		t.Errorf("unlearned %+v", first)
	}
	for range 50 {
		e.Learn("m", e.Of(r), billed(600, 40))
	}
	if got := e.Of(r); got.Input < 595 || got.Input > 610 || got.InputAtLeast < 450 || got.Output < 40 || got.Output > 45 {
		t.Errorf("learned %+v", got)
	}
	e.Learn("m", e.Of(r), billed(1e18, 1))
	if got := e.Of(r).Input; got > 1000*maxFactor {
		t.Errorf("one sample led to %v", got)
	}
}

// TestModelsAreBoundedAndNamesThatTeachNothingGoFirst: a client that sends one wrong name after the other neither
// fills the memory nor takes what was learned.
func TestModelsAreBoundedAndNamesThatTeachNothingGoFirst(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	e.Learn("good", e.Of(&dialect.Request{Model: "good", TextBytes: 30_000}), billed(20_000, 1))
	want := e.Of(&dialect.Request{Model: "good", TextBytes: 30_000}).Input
	for i := range 3 * maxModels {
		e.Of(&dialect.Request{Model: fmt.Sprint("wrong", i)})
	}
	if len(e.models.byName) > maxModels+1 {
		t.Errorf("%d models are kept", len(e.models.byName))
	}
	if got := e.Of(&dialect.Request{Model: "good", TextBytes: 30_000}).Input; got != want || got < 15_000 {
		t.Errorf("%v, was %v", got, want)
	}
	for i := range 3 * maxModels { // nothing can go while all have calls in flight
		e.started(fmt.Sprint("busy", i))
	}
	if len(e.models.byName) > maxModels+1 {
		t.Errorf("%d models are kept", len(e.models.byName))
	}
	for i := range 3 * maxModels {
		e.ended(fmt.Sprint("busy", i))
	}
	for name, l := range e.models.byName {
		if l.inFlight < 0 {
			t.Errorf("%s has %d calls in flight", name, l.inFlight)
		}
	}
}

func TestLargestOutputIsReservedWhereItIsTakenAtAdmission(t *testing.T) {
	r := &dialect.Request{Model: "m", MaxOutputTokens: 1000, Choices: 3}
	if got := NewEstimator(facts.MaxAtAdmission).Of(r).Output; got != 3000 {
		t.Errorf("reserved %v", got)
	}
	if got := NewEstimator(facts.AsProduced).Of(r).Output; got != 768 {
		t.Errorf("reserved %v", got)
	}
}

// TestTextIsExpectedByItsCharacters: what was seen of the text goes before its length.
func TestTextIsExpectedByItsCharacters(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	got := e.Of(&dialect.Request{Model: "m", TextBytes: 3000, TokensPerByte: 0.5})
	if got.Input != 1500 || got.InputAtLeast != 1000 {
		t.Errorf("%+v", got)
	}
}

// TestC3CachedInputIsLearned: an account that is charged 700 of 8,700 tokens is soon asked for about 700, and a call
// of the same model that nothing is cached of is still asked for all it takes.
func TestC3CachedInputIsLearned(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	usage := dialect.Usage{Input: 200, CachedRead: 8000, CacheWrite: 500, CacheOutside: true, Output: 10}
	cached := Charge{Input: float64(usage.ChargedInput(false)), Charged: float64(usage.ChargedInput(true)), Output: 10}
	if cached.Input != 8700 || cached.Charged != 700 {
		t.Fatalf("%+v", cached)
	}
	long := &dialect.Request{Model: "claude", TextBytes: 3 * 8700, MarksCache: true}
	short := &dialect.Request{Model: "claude", TextBytes: 3 * 500}
	plain := &dialect.Request{Model: "claude", TextBytes: 3 * 8700}
	if got := e.Of(long); got.Input < 8000 || got.InputAtLeast != 0 {
		t.Errorf("before: %+v, though it may stand in the cache", got)
	}
	for range 20 {
		e.Learn("claude", e.Of(long), cached)
		e.Learn("claude", e.Of(short), billed(500, 10))
	}
	if got := e.Of(long); got.Input < 650 || got.Input > 800 || got.InputAtLeast > 700 {
		t.Errorf("a cached prompt: %+v, was charged 700", got)
	}
	if got := e.Of(short); got.Input < 480 || got.Input > 520 {
		t.Errorf("a short prompt: %+v, was charged 500", got)
	}
	if got := e.Of(plain); got.Input < 8000 {
		t.Errorf("a prompt that is not marked: %+v, would be charged 8,700", got)
	}
	// A longer conversation is like the shorter one it grew from.
	if got := e.Of(&dialect.Request{Model: "claude", TextBytes: 3 * 20_000, MarksCache: true}); got.Input > 2000 {
		t.Errorf("a grown conversation: %+v", got)
	}
	// What nobody marks is cached by some providers too: the size tells.
	for range 20 {
		e.Learn("other", e.Of(&dialect.Request{Model: "other", TextBytes: 30_000}), Charge{Input: 10_000, Charged: 2000, Output: 1})
	}
	if got := e.Of(&dialect.Request{Model: "other", TextBytes: 30_000}); got.Input < 1900 || got.Input > 2300 {
		t.Errorf("an unmarked prompt: %+v, was charged 2,000", got)
	}
}

// TestC3CachedInputThatCountsIsCharged: OpenAI's cached tokens are a part of the input, and count; where they are
// free they do not.
func TestC3CachedInputThatCountsIsCharged(t *testing.T) {
	route := plan.Route{Name: "r", Limits: []plan.Limit{
		{Name: "input", Budget: plan.InputTokens, Amount: 100_000, WindowSeconds: 60, Burst: 100_000},
	}}
	for free, want := range map[bool]float64{false: 10_000, true: 2000} {
		now := time.Now()
		g := New(Options{Facts: facts.Facts{Charges: facts.AsProduced, CachedInputFree: free}}, route, 1, now)
		tk := ticket(10_000, 10)
		if v := g.Enter(tk, now); v.State != budget.Admitted {
			t.Fatal(v)
		}
		g.ReleaseAt(tk, Settlement{Kind: Billed, Usage: dialect.Usage{Input: 10_000, CachedRead: 8000, Output: 10}}, now)
		if got := g.Figures(now).Limits[0].Spent; got != want {
			t.Errorf("free %v: charged %v, want %v", free, got, want)
		}
		g.Close()
	}
}

// TestShortCallsDoNotTeachLongOnes: what a provider adds to each call is a multiple of a short text.
func TestShortCallsDoNotTeachLongOnes(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	short := &dialect.Request{Model: "m", TextBytes: 9}
	for range 30 {
		e.Learn("m", e.Of(short), billed(12, 1))
	}
	if got := e.Of(&dialect.Request{Model: "m", TextBytes: 3 * 60_000}).Input; got > 1.5*60_000 {
		t.Errorf("%v for 60,000 tokens", got)
	}
	if got := e.Of(short).Input; got != 12 {
		t.Errorf("%v for 12 tokens", got)
	}
}

// TestStoredPromptsAreLearnedApart: a call that continues a conversation of 30,000 tokens says little in its body, and
// must not make other calls dear.
func TestStoredPromptsAreLearnedApart(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	turn := &dialect.Request{Model: "m", TextBytes: 3 * 300, Continues: true}
	whole := &dialect.Request{Model: "m", TextBytes: 3 * 1000}
	for range 20 {
		e.Learn("m", e.Of(turn), billed(30_300, 1))
	}
	if got := e.Of(turn).Input; got < 30_000 || got > 30_600 {
		t.Errorf("a turn: %v, was charged 30,300", got)
	}
	if got := e.Of(whole).Input; got != 1000 {
		t.Errorf("a call of its own: %v, expected 1,000", got)
	}
}

// TestMediaTeachMedia: what pictures cost is learned apart from the text, within bounds, and never makes a call
// impossible.
func TestMediaTeachMedia(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	picture := &dialect.Request{Model: "m", TextBytes: 30, MediaTokens: 1600}
	text := &dialect.Request{Model: "m", TextBytes: 3000}
	first := e.Of(picture)
	if first.Input != 1610 || first.InputAtLeast > 10 {
		t.Errorf("unlearned %+v", first)
	}
	for range 20 {
		e.Learn("m", e.Of(picture), billed(410, 1))
	}
	if got := e.Of(picture); got.Input < 400 || got.Input > 500 || got.InputAtLeast > 10 {
		t.Errorf("pictures of 400 tokens: %+v", got)
	}
	if got := e.Of(text).Input; got != 1000 || e.Correction() != 1 {
		t.Errorf("text costs %v, correction %v", got, e.Correction())
	}
	e.Learn("m", e.Of(picture), billed(1e15, 1))
	if got := e.Of(picture).Input; got > 1610*maxFactor {
		t.Errorf("one sample led to %v", got)
	}
	// Of a call that is mostly text nothing is concluded before the text's factor is known.
	e.Learn("n", e.Of(&dialect.Request{Model: "n", TextBytes: 30_000, MediaTokens: 1600}), billed(20_000, 1))
	if got := e.Of(&dialect.Request{Model: "n", MediaTokens: 1600}).Input; got != 1600 {
		t.Errorf("a picture costs %v", got)
	}
}

// TestEstimateProperties: whatever is sent and charged, an estimate is finite, not negative, and not below its bound.
func TestEstimateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEstimator(rapid.SampledFrom([]facts.Charges{facts.AsProduced, facts.MaxAtAdmission, facts.EstimateThenActual}).Draw(t, "charges"))
		amount := rapid.OneOf(rapid.Int64Range(0, 10), rapid.Int64Range(0, 1e6), rapid.Just(int64(1)<<53))
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			r := &dialect.Request{
				Model: rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "model"), TextBytes: amount.Draw(t, "text"), MediaTokens: amount.Draw(t, "media"),
				TokensPerByte: rapid.Float64Range(0, 1).Draw(t, "density"), MarksCache: rapid.Bool().Draw(t, "marks"),
				Continues:       rapid.Bool().Draw(t, "continues"),
				MaxOutputTokens: amount.Draw(t, "max"), Choices: amount.Draw(t, "choices"),
			}
			est := e.Of(r)
			for name, v := range map[string]float64{"input": est.Input, "at least": est.InputAtLeast, "output": est.Output, "correction": e.Correction()} {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Fatalf("%s is %v of %+v", name, v, r)
				}
			}
			if est.InputAtLeast > est.Input {
				t.Fatalf("%+v is below its bound", est)
			}
			input := float64(amount.Draw(t, "input")) - 1
			e.Learn(r.Model, est, Charge{Input: input, Charged: min(input, float64(amount.Draw(t, "charged"))-1), Output: float64(amount.Draw(t, "output")) - 1})
		}
	})
}

// TestEstimatorIsSafeForConcurrentUse is for the race detector.
func TestEstimatorIsSafeForConcurrentUse(t *testing.T) {
	e := NewEstimator(facts.AsProduced)
	var done sync.WaitGroup
	for i := range 4 {
		done.Go(func() {
			for j := range 200 {
				model := fmt.Sprint("m", (i+j)%100)
				est := e.Of(&dialect.Request{Model: model, TextBytes: 3000})
				e.started(model)
				e.Learn(model, est, billed(1000, 1))
				e.ended(model)
				e.Correction()
			}
		})
	}
	done.Wait()
}

func BenchmarkEstimate(b *testing.B) {
	e := NewEstimator(facts.AsProduced)
	r := &dialect.Request{Model: "m", TextBytes: 3000, TokensPerByte: 0.3}
	b.ReportAllocs()
	for b.Loop() {
		e.Learn("m", e.Of(r), billed(1000, 10))
	}
}
