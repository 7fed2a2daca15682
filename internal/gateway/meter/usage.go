// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// maxTokens is far above what any call can have. What exceeds it is an error of the provider's, and no count: charged, it
// would close a limit for days.
const maxTokens = 1_000_000_000

// addOpenAI reads the usage objects of chat, completions, embeddings and responses, with the names that
// providers who copy them have for cached tokens. These lie inside the input.
func addOpenAI(u *dialect.Usage, v gjson.Result) {
	if !v.IsObject() {
		return
	}
	replace(&u.Input, v.Get("prompt_tokens"), v.Get("input_tokens"))
	replace(&u.Output, openAIOutput(v))
	replace(&u.CachedRead, v.Get("prompt_tokens_details.cached_tokens"), v.Get("input_tokens_details.cached_tokens"),
		v.Get("prompt_cache_hit_tokens"), v.Get("num_cached_tokens"), v.Get("cached_tokens"))
	replace(&u.CacheWrite, v.Get("input_tokens_details.cache_write_tokens"), v.Get("prompt_tokens_details.cache_write_tokens"))
	replace(&u.Reasoning, v.Get("completion_tokens_details.reasoning_tokens"), v.Get("output_tokens_details.reasoning_tokens"),
		v.Get("reasoning_tokens"))
	if total := v.Get("total_tokens"); u.Output < 0 && u.Input >= 0 && isCount(total) {
		u.Output = max(count(total)-u.Input, 0) // embeddings state no output
	}
}

// openAIOutput is the output, with the reasoning that xAI, and Gemini behind OpenAI's API, leave out of it. The
// total holds it, whether it is stated or not; a gap of another size is something else.
func openAIOutput(v gjson.Result) gjson.Result {
	output, input, total := v.Get("completion_tokens"), v.Get("prompt_tokens"), v.Get("total_tokens")
	if !isCount(output) {
		return v.Get("output_tokens")
	}
	if !isCount(input) || !isCount(total) {
		return output
	}
	gap := count(total) - count(input) - count(output)
	reasoning := v.Get("completion_tokens_details.reasoning_tokens")
	if gap > 0 && (!isCount(reasoning) || count(reasoning) == gap) {
		output.Num += float64(gap)
	}
	return output
}

// addAnthropic reads the usage objects of messages. Cached tokens lie outside the input.
func addAnthropic(u *dialect.Usage, v gjson.Result) {
	if !v.IsObject() {
		return
	}
	replace(&u.Input, v.Get("input_tokens"))
	replace(&u.Output, v.Get("output_tokens"))
	replace(&u.CachedRead, v.Get("cache_read_input_tokens"))
	replace(&u.CacheWrite, v.Get("cache_creation_input_tokens"))
	u.CacheOutside = true
}

func isCount(v gjson.Result) bool { return v.Type == gjson.Number && v.Num >= 0 && v.Num <= maxTokens }

// count is a value for which isCount holds.
func count(v gjson.Result) int64 { return int64(v.Num) }

// replace takes the first of the values that is a count. Counts never fall, so 0 after a count is a
// provider's way to say nothing.
func replace(into *int64, values ...gjson.Result) {
	for _, v := range values {
		if !isCount(v) {
			continue
		}
		if n := count(v); n > 0 || *into < 0 {
			*into = n
		}
		return
	}
}
