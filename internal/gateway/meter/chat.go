// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// The members of chat completion chunks that matter, without their first quotes.
var (
	nameFinish  = []byte(`finish_reason"`)
	nameUsage   = []byte(`usage"`)
	nameChoices = []byte(`choices"`)
	nameContent = []byte(`content"`)
	chatTexts   = [][]byte{
		nameContent, []byte(`reasoning_content"`), []byte(`arguments"`), []byte(`text"`), []byte(`reasoning"`), []byte(`refusal"`), []byte(`data"`),
	}
	done = []byte("[DONE]")
)

// chat reads one event of a chat completion or completion stream. It reports whether the event is the usage
// chunk that no choice belongs to.
func chat(t *tally, name, data []byte) (usageChunk bool) {
	if bytes.HasPrefix(data, done) {
		t.complete = true
		return false
	}
	finish := t.finish.after(data)
	if finish == nil || string(name) == "error" {
		return unusualChat(t, data)
	}
	if starts(finish, '"') {
		t.complete, t.content = true, true
	}
	if starts(t.use.after(data), '{') {
		addOpenAI(&t.usage, gjson.GetBytes(data, "usage"))
	}
	if n := textLen(t.words.after(data)); n > 0 {
		t.delta(n)
	} else if n := anyText(data, chatTexts); n > 0 {
		t.delta(n)
	}
	return false
}

// unusualChat reads an event without a finish reason: the usage chunk, an error, or a chunk of a provider
// that leaves the reason out.
func unusualChat(t *tally, data []byte) (usageChunk bool) {
	v := gjson.ParseBytes(data)
	if !v.IsObject() {
		return false
	}
	if e := v.Get("error"); e.IsObject() || e.Type == gjson.String {
		t.fail(data)
		return false
	}
	usage := v.Get("usage")
	if usage.IsObject() {
		addOpenAI(&t.usage, usage)
	}
	choices := v.Get("choices")
	if !choices.IsArray() {
		return false
	}
	if choices.Get("#").Int() == 0 {
		return usage.IsObject()
	}
	if n := anyText(data, chatTexts); n > 0 {
		t.delta(n)
	}
	return false
}

// maxUsageChunk is how long a chunk may be that is held back because it may be the injected one.
const maxUsageChunk = 16 << 10

// mayBeUsageChunk reports whether the beginning of an event's data leaves it open that no choice belongs to it.
func mayBeUsageChunk(data []byte) bool {
	data = bytes.TrimLeft(data, " \t")
	if len(data) == 0 {
		return true
	}
	if data[0] != '{' || len(data) > maxUsageChunk {
		return false
	}
	choices := after(data, nameChoices)
	if len(choices) == 0 {
		return true
	}
	if choices[0] != '[' {
		return false
	}
	first := bytes.TrimLeft(choices[1:], " \t\r\n")
	return len(first) == 0 || first[0] == ']'
}
