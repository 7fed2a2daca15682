// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "github.com/tidwall/gjson"

var (
	nameDone    = []byte(`done"`)
	nameCalls   = []byte(`tool_calls"`)
	nameError   = []byte(`error"`)
	ollamaTexts = [][]byte{nameContent, []byte(`response"`), []byte(`thinking"`)}
)

// ollama reads one line of a stream, or a document.
func ollama(t *tally, _, data []byte) bool {
	finished := after(data, nameDone)
	if finished == nil || starts(finished, 't') || after(data, nameError) != nil {
		ollamaEnd(t, data)
	}
	if n := anyText(data, ollamaTexts); n > 0 {
		t.delta(n)
	} else if starts(after(data, nameCalls), '[') {
		t.delta(0)
	}
	return false
}

// ollamaEnd reads the line that ends a stream, the document of an answer without one, or an error.
func ollamaEnd(t *tally, data []byte) {
	v := gjson.ParseBytes(data)
	replace(&t.usage.Input, v.Get("prompt_eval_count"))
	replace(&t.usage.Output, v.Get("eval_count"))
	switch {
	case isError(v.Get("error")):
		t.fail(data)
	case v.Get("done").Bool():
		t.complete, t.content = true, true
	}
}
