// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package estimates

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
	"github.com/headgate-dev/headgate/internal/testing/corpus"
)

// provider bills what a vocabulary makes of a text, times a factor that stands for another one, and something for
// each call.
type provider struct {
	name             string
	factor, overhead float64
}

// The second makes a third more of each text, and adds 300 tokens of instructions to each call.
var providers = []provider{
	{"o200k", 1, 8},
	{"a third more, and 300", 1.33, 300},
}

// call is a request as the gateway reads it, with what is billed for it.
type call struct {
	request dialect.Request
	billed  float64
}

// newCall asks about a text, with a short system prompt.
func newCall(t *testing.T, p provider, text string) call {
	t.Helper()
	const system = "You are a careful assistant who cites sources and never invents a number."
	body, err := json.Marshal(map[string]any{"model": "m", "max_tokens": 100, "messages": []any{
		map[string]any{"role": "system", "content": system}, map[string]any{"role": "user", "content": text},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := request.ReadAs(dialect.Operation{Name: "chat", Format: dialect.FormatChat}, "application/json", body, request.Costs{})
	return call{r, p.overhead + p.factor*float64(count(t, system)+count(t, text))}
}

// unseen is the request of which only the length is known.
func (c call) unseen() *dialect.Request {
	r := c.request
	r.TokensPerByte = 0
	return &r
}

func count(t *testing.T, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kinds are the corpus' and a mixture.
func kinds() map[string]func(r *rand.Rand, bytes int) string {
	all := map[string]func(r *rand.Rand, bytes int) string{"mixed": corpus.Mixed}
	for _, k := range corpus.Kinds {
		all[k.Name] = k.Text
	}
	return all
}

// size is 1 to 16 KB, small ones more often.
func size(r *rand.Rand) int { return 1 << 10 << r.IntN(5) }

// teach bills n calls of all kinds to two estimators, of which one knows the texts' lengths alone.
func teach(t *testing.T, e, blind *admission.Estimator, p provider, n int) {
	t.Helper()
	r := chance(7)
	for range n {
		text := corpus.Mixed(r, size(r))
		if r.IntN(2) == 0 {
			text = corpus.Kinds[r.IntN(len(corpus.Kinds))].Text(r, size(r))
		}
		c := newCall(t, p, text)
		charge := admission.Charge{Input: c.billed, Charged: c.billed, Output: 10}
		e.Learn("m", e.Of(&c.request), charge)
		blind.Learn("m", blind.Of(c.unseen()), charge)
	}
}

// TestErrorsOfTextEstimates: by the characters before anything is learned, and after 20 calls of the model, which were
// of all kinds; beside it, without bars, what the length alone would tell.
func TestErrorsOfTextEstimates(t *testing.T) {
	const calls = 60
	bars := map[string]struct{ before, after bar }{
		"o200k":           {bar{0.12, 0.06, 0.10, 0.10}, bar{0.12, 0.08, 0.15, 0.10}},
		providers[1].name: {bar{0.75, 0.50, 0, 1}, bar{0.12, 0.12, 0.20, 0.10}},
	}
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			rows := map[string][]distribution{}
			fresh, taught := admission.NewEstimator(facts.AsProduced), admission.NewEstimator(facts.AsProduced)
			taughtBlind := admission.NewEstimator(facts.AsProduced)
			teach(t, taught, taughtBlind, p, 20)
			seed := uint64(1000)
			for name, text := range kinds() {
				var blind, blindAfter, before, after distribution
				for i := range uint64(calls) {
					r := chance(seed + i)
					c := newCall(t, p, text(r, size(r)))
					blind.add(fresh.Of(c.unseen()).Input, c.billed)
					blindAfter.add(taughtBlind.Of(c.unseen()).Input, c.billed)
					before.add(fresh.Of(&c.request).Input, c.billed)
					after.add(taught.Of(&c.request).Input, c.billed)
				}
				bars[p.name].before.check(t, name+" before", before)
				bars[p.name].after.check(t, name+" after", after)
				rows[name] = []distribution{blind, blindAfter, before, after}
			}
			report(t, []string{"by length", "and 20 calls", "by characters", "and 20 calls"}, rows)
		})
	}
}
