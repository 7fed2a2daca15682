// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var cohereTexts = [][]byte{[]byte(`text"`), []byte(`thinking"`), []byte(`arguments"`), []byte(`tool_plan"`)}

// cohere reads one event of Cohere's chat, or a document of any of its endpoints. The events of its first
// version name their kind otherwise.
func cohere(t *tally, name, data []byte) bool {
	kind := string(typeOf(name, data))
	if kind == "" {
		kind = gjson.GetBytes(data, "event_type").Str
	}
	switch kind {
	case "content-delta", "tool-plan-delta", "tool-call-delta", "text-generation":
		t.words.name = cohereTexts[0]
		n := textLen(t.words.after(data))
		if n == 0 {
			n = anyText(data, cohereTexts[1:])
		}
		if n > 0 {
			t.delta(n)
		}
	case "content-end", "tool-call-start", "tool-call-end", "tool-calls-generation":
		t.content = true
	case "message-end":
		cohereEnd(t, data)
	case "stream-end":
		addCohere(&t.usage, gjson.GetBytes(data, "response.meta"))
		t.complete, t.content = true, true
	case nameOfErrors:
		t.fail(data)
	case "":
		v := gjson.ParseBytes(data)
		if isError(v.Get("error")) || v.Get("message").Type == gjson.String {
			t.fail(data) // answers have their message as an object, if they have one
		}
		addCohere(&t.usage, v.Get("usage"))
		addCohere(&t.usage, v.Get("meta"))
	}
	return false
}

func cohereEnd(t *tally, data []byte) {
	delta := gjson.GetBytes(data, "delta")
	addCohere(&t.usage, delta.Get("usage"))
	reason := delta.Get("finish_reason").Str
	switch e := delta.Get("error"); {
	case isError(e) && reason != "COMPLETE":
		t.fail([]byte(`{"message":` + e.Raw + "}"))
		return
	case reason == "ERROR":
		t.fail(data)
		return
	}
	t.complete, t.content = true, true
}

// addCohere reads usage, or meta, which is alike. tokens is what the model processed, billed_units what of
// it is charged for; endpoints without a model's output state the latter alone. Cached tokens lie inside.
func addCohere(u *dialect.Usage, v gjson.Result) {
	replace(&u.Input, v.Get("tokens.input_tokens"), v.Get("billed_units.input_tokens"))
	grow(&u.Output, v.Get("tokens.output_tokens"), v.Get("billed_units.output_tokens"))
	replace(&u.CachedRead, v.Get("cached_tokens"))
}
