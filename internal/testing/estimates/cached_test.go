// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package estimates

import (
	"math/rand/v2"
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// conversation is one that a client marks for the cache: each turn reads what was there before and adds a little.
type conversation struct {
	tokens int64
	turns  int
}

// next is the next turn, and its usage as Anthropic reports it. One in ten comes too late for the cache.
func (c *conversation) next(r *rand.Rand) (dialect.Request, dialect.Usage) {
	added := int64(100 + r.IntN(500))
	read := c.tokens
	if c.turns == 0 || r.IntN(10) == 0 {
		read = 0
	}
	c.tokens, c.turns = c.tokens+added, c.turns+1
	usage := dialect.Usage{Input: added / 4, CachedRead: read, CacheWrite: c.tokens - read - added/4, Output: 50, CacheOutside: true}
	return dialect.Request{Model: "m", TextBytes: 4 * c.tokens, TokensPerByte: 0.25, MarksCache: true}, usage
}

// TestC3ErrorsOfCachedPrompts: conversations of 20,000 tokens and more whose cached reads are free, among short calls
// of the same model that nothing is cached of. What is reserved for all of them together must come near to what is
// charged: too much and they wait for nothing, too little and the provider refuses.
func TestC3ErrorsOfCachedPrompts(t *testing.T) {
	e := admission.NewEstimator(facts.AsProduced)
	r := chance(3)
	reserved, charged := map[string]float64{}, map[string]float64{}
	take := func(part string, request dialect.Request, usage dialect.Usage) {
		est := e.Of(&request)
		reserved[part] += est.Input
		charged[part] += float64(usage.ChargedInput(true))
		e.Learn("m", est, admission.Charge{
			Input: float64(usage.ChargedInput(false)), Charged: float64(usage.ChargedInput(true)), Output: float64(usage.Output),
		})
	}
	short := func(part string) {
		tokens := int64(300 + r.IntN(400))
		take(part+", short", dialect.Request{Model: "m", TextBytes: 4 * tokens, TokensPerByte: 0.25}, dialect.Usage{Input: tokens, Output: 50})
	}
	open := []*conversation{}
	for range 5 {
		open = append(open, &conversation{tokens: int64(20_000 + r.IntN(30_000))})
	}
	for i := range 220 {
		part := "later calls"
		if i < 20 {
			part = "first 20 calls"
		}
		request, usage := open[r.IntN(len(open))].next(r)
		take(part+", cached", request, usage)
		short(part)
	}
	rows := map[string]float64{}
	for part := range charged {
		rows[part] = reserved[part] / charged[part]
		t.Logf("%s: reserved %.0f, charged %.0f, %.2f times as much", part, reserved[part], charged[part], rows[part])
	}
	if got := rows["later calls, cached"]; got < 0.7 || got > 1.5 {
		t.Errorf("cached prompts are reserved %.2f times what they are charged", got)
	}
	if got := rows["later calls, short"]; got < 0.95 || got > 1.05 {
		t.Errorf("short prompts are reserved %.2f times what they are charged", got)
	}
	if got := rows["first 20 calls, cached"]; got > 4 {
		t.Errorf("the first cached prompts are reserved %.2f times what they are charged", got)
	}
}
