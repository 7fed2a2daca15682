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

// openAIUsage are the members of a usage object that are looked at. Each is read once: an answer's usage is on every call's way.
type openAIUsage struct {
	prompt, input, completion, output, total  gjson.Result
	promptIn, inputIn, completionIn, outputIn gjson.Result // their details
	hit, cachedNumber, cached, reasoning      gjson.Result
}

func readOpenAI(v gjson.Result) (u openAIUsage) {
	v.ForEach(func(key, value gjson.Result) bool {
		if at := u.at(key.Str); at != nil && !at.Exists() {
			*at = value
		}
		return true
	})
	return u
}

// at is where the member of a name is kept; nil for those that are not looked at.
func (u *openAIUsage) at(name string) *gjson.Result {
	switch name {
	case "prompt_tokens":
		return &u.prompt
	case "input_tokens":
		return &u.input
	case "completion_tokens":
		return &u.completion
	case "output_tokens":
		return &u.output
	case "total_tokens":
		return &u.total
	case "prompt_tokens_details":
		return &u.promptIn
	case "input_tokens_details":
		return &u.inputIn
	case "completion_tokens_details":
		return &u.completionIn
	case "output_tokens_details":
		return &u.outputIn
	case "prompt_cache_hit_tokens":
		return &u.hit
	case "num_cached_tokens":
		return &u.cachedNumber
	case "cached_tokens":
		return &u.cached
	case "reasoning_tokens":
		return &u.reasoning
	}
	return nil
}

// addOpenAI reads the usage objects of chat, completions, embeddings and responses, with the names that
// providers who copy them have for cached tokens. These lie inside the input.
func addOpenAI(u *dialect.Usage, v gjson.Result) {
	if !v.IsObject() {
		return
	}
	r := readOpenAI(v)
	reasoning := r.completionIn.Get("reasoning_tokens")
	replace(&u.Input, r.prompt, r.input)
	grow(&u.Output, r.produced(reasoning))
	replace(&u.CachedRead, r.promptIn.Get("cached_tokens"), r.inputIn.Get("cached_tokens"), r.hit, r.cachedNumber, r.cached)
	replace(&u.CacheWrite, r.inputIn.Get("cache_write_tokens"), r.promptIn.Get("cache_write_tokens"))
	replace(&u.Reasoning, reasoning, r.outputIn.Get("reasoning_tokens"), r.reasoning)
	if u.Output < 0 && u.Input >= 0 && isCount(r.total) {
		u.Output = max(count(r.total)-u.Input, 0) // embeddings state no output
	}
}

// produced is the output, with the reasoning that xAI, and Gemini behind OpenAI's API, leave out of it. The
// total holds it, whether it is stated or not; a gap of another size is something else.
func (u *openAIUsage) produced(reasoning gjson.Result) gjson.Result {
	output := u.completion
	if !isCount(output) {
		return u.output
	}
	if !isCount(u.prompt) || !isCount(u.total) {
		return output
	}
	gap := count(u.total) - count(u.prompt) - count(output)
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
	grow(&u.Output, v.Get("output_tokens"))
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

// grow is replace for what is produced: of two counts that come in the wrong order the larger is the later one.
func grow(into *int64, values ...gjson.Result) {
	before := *into
	replace(into, values...)
	*into = max(*into, before)
}
