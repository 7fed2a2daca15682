// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
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
	done        = []byte("[DONE]")
	emptyString = []byte(`""`)
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
	if starts(finish, '"') && !bytes.HasPrefix(finish, emptyString) {
		lastChunk(t, data)
	} else if starts(t.use.after(data), '{') {
		addChat(&t.usage, gjson.ParseBytes(data))
	}
	if n := textLen(t.words.after(data)); n > 0 {
		t.delta(n)
	} else if n := anyText(data, chatTexts); n > 0 {
		t.delta(n)
	}
	return false
}

// lastChunk reads the end of a choice, of which some providers say in the same chunk what it cost, or why it
// failed.
func lastChunk(t *tally, data []byte) {
	v := gjson.ParseBytes(data)
	addChat(&t.usage, v)
	if document, failed := chunkError(v); failed {
		t.fail(document)
		return
	}
	t.complete, t.content = true, true
}

// chunkError finds the error of a chunk or a document: beside the choices, in place of all, or, with
// OpenRouter and Groq, in members of their own.
func chunkError(v gjson.Result) (document []byte, failed bool) {
	if isError(v.Get("error")) || v.Get("object").Str == "error" {
		return []byte(v.Raw), true
	}
	e := v.Get("x_groq.error")
	if choice := v.Get("choices.0"); !isError(e) && choice.Get("finish_reason").Str == "error" {
		if e = choice.Get("error"); !isError(e) {
			return []byte(v.Raw), true
		}
	}
	return []byte(`{"error":` + e.Raw + "}"), isError(e)
}

// addChat reads the usage of a chunk or a document. It is within a member of its own with Groq.
func addChat(u *dialect.Usage, v gjson.Result) {
	addOpenAI(u, v.Get("x_groq.usage"))
	addOpenAI(u, v.Get("usage"))
}

// unusualChat reads an event without a finish reason: the usage chunk, an error, or a chunk of a provider
// that leaves the reason out.
func unusualChat(t *tally, data []byte) (usageChunk bool) {
	v := gjson.ParseBytes(data)
	if !v.IsObject() {
		return false
	}
	addChat(&t.usage, v)
	if document, failed := chunkError(v); failed {
		t.fail(document)
		return false
	}
	choices := v.Get("choices")
	if !choices.IsArray() {
		return false
	}
	if choices.Get("#").Int() == 0 {
		return v.Get("usage").IsObject()
	}
	if n := anyText(data, chatTexts); n > 0 {
		t.delta(n)
	}
	return false
}

// isError reports whether the value of a member named error is one.
func isError(v gjson.Result) bool { return v.IsObject() || v.Type == gjson.String && v.Str != "" }

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
