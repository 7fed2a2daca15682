// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// generate reads one document of generateContent, or one chunk of its stream, which is alike.
func generate(t *tally, _, data []byte) bool {
	v := gjson.ParseBytes(data)
	if v.IsArray() {
		v = v.Get("0") // some errors come in an array
	}
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "error":
			if isError(value) {
				t.fail([]byte(v.Raw))
			}
		case "usageMetadata":
			addGoogle(&t.usage, value)
		case "candidates":
			candidates(t, value)
		case "promptFeedback":
			if reason := value.Get("blockReason"); reason.Type == gjson.String {
				t.complete = true
			}
		}
		return true
	})
	return false
}

// candidates reads what was generated, and why it ended.
func candidates(t *tally, v gjson.Result) {
	v.ForEach(func(_, candidate gjson.Result) bool {
		candidate.Get("content.parts").ForEach(func(_, part gjson.Result) bool {
			googlePart(t, part)
			return true
		})
		reason := candidate.Get("finishReason")
		t.candidate(candidate.Get("index"), reason.Type == gjson.String && reason.Str != "FINISH_REASON_UNSPECIFIED")
		return true
	})
}

// candidate notes a piece of one, and whether it is its last. The number 0 is left out.
func (t *tally) candidate(index gjson.Result, last bool) {
	if t.several != nil {
		t.several.saw(index.Int(), last)
		t.complete, t.content = t.several.over(), t.content || last
	} else if last {
		t.complete, t.content = true, true
	}
}

// googlePart counts a part. What is no text (a call of a function, an image) counts as one token at least.
func googlePart(t *tally, part gjson.Result) {
	text := part.Get("text")
	switch {
	case text.Type == gjson.String && text.Str != "":
		t.delta(len(text.Str))
	case text.Type == gjson.String || !part.IsObject():
	default:
		t.delta(len(part.Get("functionCall").Raw))
	}
}

// addGoogle reads usageMetadata. The cached part lies inside the prompt, what tools added outside of it;
// thoughts lie outside the candidates.
func addGoogle(u *dialect.Usage, v gjson.Result) {
	prompt, tools := v.Get("promptTokenCount"), v.Get("toolUsePromptTokenCount")
	if isCount(prompt) && isCount(tools) {
		prompt.Num += tools.Num
	}
	replace(&u.Input, prompt)
	replace(&u.CachedRead, v.Get("cachedContentTokenCount"))
	replace(&u.Reasoning, v.Get("thoughtsTokenCount"))
	output, thoughts := v.Get("candidatesTokenCount"), v.Get("thoughtsTokenCount")
	switch {
	case isCount(output):
		output.Num += float64(max(u.Reasoning, 0))
		grow(&u.Output, output)
	case isCount(thoughts):
		grow(&u.Output, thoughts)
	}
}
