// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tally

// Tokens are what a model's calls were billed.
type Tokens struct {
	Input, Output, CachedRead, CacheWrite uint64
}

// Billed counts what one call was billed; negative is unknown.
func (r *Route) Billed(model string, input, output, cachedRead, cacheWrite int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.models[model]
	if !ok {
		if len(r.models) >= maxModels {
			model = Other
		}
		if t, ok = r.models[model]; !ok {
			t = &Tokens{}
			r.models[model] = t
		}
	}
	t.Input += known(input)
	t.Output += known(output)
	t.CachedRead += known(cachedRead)
	t.CacheWrite += known(cacheWrite)
}

// TokensByModel copies the counts: at most 20 models and "other".
func (r *Route) TokensByModel() map[string]Tokens {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]Tokens, len(r.models))
	for model, t := range r.models {
		out[model] = *t
	}
	return out
}

func known(n int64) uint64 {
	if n < 0 {
		return 0
	}
	return uint64(n)
}
