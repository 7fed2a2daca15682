// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"encoding/base64"
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// metrics is the member of the last chunk of an InvokeModel stream, whatever the model.
const metrics = "amazon-bedrock-invocationMetrics"

var (
	nameMetrics = []byte(metrics + `"`)
	nameBytes   = []byte(`bytes"`)
	// invokeTexts is the text of chunks in the shapes of Llama, Titan, Mistral and Cohere.
	invokeTexts = [][]byte{[]byte(`generation"`), []byte(`outputText"`), []byte(`text"`), nameContent}
	// invokeEnds are the members that say why such a chunk is the last.
	invokeEnds = [][]byte{[]byte(`stop_reason"`), []byte(`completionReason"`), nameFinish}
)

// invoke reads one event of an InvokeModel stream, which wraps the model's own chunk in base64, or the
// model's own document.
func invoke(t *tally, name, data []byte) bool {
	wrapped := after(data, nameBytes)
	if len(name) == 0 || !starts(wrapped, '"') {
		addModel(&t.usage, gjson.ParseBytes(data))
		return false
	}
	text := wrapped[1 : 1+textLen(wrapped)]
	if bytes.IndexByte(text, '\\') >= 0 { // some writers escape the slash
		text = []byte(gjson.GetBytes(data, "bytes").Str)
	}
	chunk, err := base64.StdEncoding.AppendDecode(t.chunk[:0], text)
	if t.chunk = chunk[:0]; err != nil || cap(chunk) > maxChunk {
		t.chunk = nil
	}
	if err != nil {
		t.delta(0)
		return false
	}
	modelChunk(t, chunk)
	if len(after(chunk, nameMetrics)) > 0 {
		addMetrics(&t.usage, gjson.GetBytes(chunk, metrics))
		t.complete, t.content = true, true
	}
	return false
}

// maxChunk is the largest buffer for chunks that outlives its chunk.
const maxChunk = 4 << 10

// modelChunk reads a chunk by its shape, since the path may name a profile that says nothing of the model.
func modelChunk(t *tally, chunk []byte) {
	v := gjson.ParseBytes(chunk)
	switch {
	case v.Get("type").Type == gjson.String:
		messages(t, nil, chunk)
	case v.Get("choices").IsArray():
		chat(t, nil, chunk)
		modelEnd(t, chunk)
	case v.Get("generation").Exists() || v.Get("outputText").Exists() || v.Get("outputs").Exists() || v.Get("text").Exists():
		addModel(&t.usage, v)
		if n := anyText(chunk, invokeTexts); n > 0 {
			t.delta(n)
		}
		modelEnd(t, chunk)
	default:
		// Nova's chunks are the events of Converse, each in a member of its name.
		v.ForEach(func(key, value gjson.Result) bool {
			if key.Str != metrics && value.IsObject() {
				converse(t, []byte(key.Str), []byte(value.Raw))
			}
			return true
		})
	}
}

// modelEnd notes the end of a stream in the model's own words, should Bedrock's metrics not follow.
func modelEnd(t *tally, chunk []byte) {
	if anyText(chunk, invokeEnds) > 0 {
		t.complete, t.content = true, true
	}
}

// addModel reads what the bodies of the models report.
func addModel(u *dialect.Usage, v gjson.Result) {
	usage := v.Get("usage")
	switch {
	case usage.Get("inputTokens").Exists():
		addConverse(u, usage)
	case usage.Get("input_tokens").Exists():
		addAnthropic(u, usage)
	case usage.Exists():
		addOpenAI(u, usage)
	}
	replace(&u.Input, v.Get("prompt_token_count"), v.Get("inputTextTokenCount"), v.Get("meta.billed_units.input_tokens"))
	grow(&u.Output, v.Get("generation_token_count"), v.Get("totalOutputTextTokenCount"), v.Get("results.0.tokenCount"),
		v.Get("meta.billed_units.output_tokens"))
}

// addMetrics reads what Bedrock itself reports at a stream's end. Cached tokens lie outside the input.
func addMetrics(u *dialect.Usage, v gjson.Result) {
	replace(&u.Input, v.Get("inputTokenCount"))
	grow(&u.Output, v.Get("outputTokenCount"))
	replace(&u.CachedRead, v.Get("cacheReadInputTokenCount"))
	replace(&u.CacheWrite, v.Get("cacheWriteInputTokenCount"))
	u.CacheOutside = true
}

// invokeHeaders reads the headers of documents. The names of the cached ones are known from use alone, with
// and without their middle.
func invokeHeaders(u *dialect.Usage, h http.Header) {
	const prefix = "X-Amzn-Bedrock-"
	counted := headerCount(&u.Input, h, prefix+"Input-Token-Count")
	counted = headerCount(&u.Output, h, prefix+"Output-Token-Count") || counted
	headerCount(&u.CachedRead, h, prefix+"Cache-Read-Input-Token-Count", prefix+"Cache-Read-Token-Count")
	headerCount(&u.CacheWrite, h, prefix+"Cache-Write-Input-Token-Count", prefix+"Cache-Write-Token-Count")
	u.CacheOutside = counted
}
