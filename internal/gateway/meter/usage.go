// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// maxTokens is what absurd values saturate to.
const maxTokens = 1 << 40

// addOpenAI reads the usage objects of chat, completions, embeddings and responses. Cached
// tokens lie inside the input.
func addOpenAI(u *dialect.Usage, v gjson.Result) {
	replace(&u.Input, v.Get("prompt_tokens"), v.Get("input_tokens"))
	replace(&u.Output, v.Get("completion_tokens"), v.Get("output_tokens"))
	replace(&u.CachedRead, v.Get("prompt_tokens_details.cached_tokens"), v.Get("input_tokens_details.cached_tokens"),
		v.Get("prompt_cache_hit_tokens"))
	replace(&u.CacheWrite, v.Get("input_tokens_details.cache_write_tokens"), v.Get("prompt_tokens_details.cache_write_tokens"))
	replace(&u.Reasoning, v.Get("completion_tokens_details.reasoning_tokens"), v.Get("output_tokens_details.reasoning_tokens"))
	if total := v.Get("total_tokens"); u.Output < 0 && u.Input >= 0 && total.Type == gjson.Number {
		u.Output = max(total.Int()-u.Input, 0) // embeddings have no output and do not say so
	}
}

// addAnthropic reads the usage objects of messages. Cached tokens lie outside the input.
func addAnthropic(u *dialect.Usage, v gjson.Result) {
	replace(&u.Input, v.Get("input_tokens"))
	replace(&u.Output, v.Get("output_tokens"))
	replace(&u.CachedRead, v.Get("cache_read_input_tokens"))
	replace(&u.CacheWrite, v.Get("cache_creation_input_tokens"))
	u.CacheOutside = true
}

// replace takes the first of the values that is a number. Counts never fall, so 0 after a count is a
// provider's way to say nothing.
func replace(into *int64, values ...gjson.Result) {
	for _, v := range values {
		if v.Type != gjson.Number || v.Num < 0 {
			continue
		}
		if n := int64(min(v.Num, maxTokens)); n > 0 || *into < 0 {
			*into = n
		}
		return
	}
}
