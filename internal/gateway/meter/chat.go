// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"slices"

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
	if t.several != nil {
		return severalChoices(t, name, data)
	}
	finish := t.finish.after(data)
	if finish == nil || string(name) == nameOfErrors {
		return unusualChat(t, name, data)
	}
	if starts(finish, '"') && !bytes.HasPrefix(finish, emptyString) {
		lastChunk(t, data)
	} else if starts(t.use.after(data), '{') {
		c := readChunk(data)
		c.add(&t.usage)
	}
	if n := textLen(t.words.after(data)); n > 0 {
		t.delta(n)
	} else if n := anyText(data, chatTexts); n > 0 {
		t.delta(n)
	}
	return false
}

// nameOfErrors is what events are called that are errors, whatever is in them.
const nameOfErrors = "error"

// chatChunk are the members of a chunk or a document that are looked at, each read once.
type chatChunk struct {
	raw                                         string
	object, kind, failure, usage, groq, choices gjson.Result
}

func readChunk(data []byte) chatChunk {
	v := gjson.ParseBytes(data)
	c := chatChunk{raw: v.Raw}
	if !v.IsObject() {
		return c
	}
	v.ForEach(func(key, value gjson.Result) bool {
		if at := c.at(key.Str); at != nil && !at.Exists() {
			*at = value
		}
		return true
	})
	return c
}

// at is where the member of a name is kept; nil for those that are not looked at.
func (c *chatChunk) at(name string) *gjson.Result {
	switch name {
	case "object":
		return &c.object
	case "type":
		return &c.kind
	case "error":
		return &c.failure
	case "usage":
		return &c.usage
	case "x_groq":
		return &c.groq
	case "choices":
		return &c.choices
	}
	return nil
}

// lastChunk reads the end of a choice, of which some providers say in the same chunk what it cost, or why it
// failed.
func lastChunk(t *tally, data []byte) {
	c := readChunk(data)
	c.add(&t.usage)
	if document, failed := c.failed(); failed {
		t.fail(document)
		return
	}
	t.complete, t.content = true, true
}

// failedAs finds the error of an event, whose name may say it all.
func (c *chatChunk) failedAs(name, data []byte) (document []byte, failed bool) {
	if document, failed = c.failed(); !failed && string(name) == nameOfErrors {
		return data, true
	}
	return document, failed
}

// failed finds the error of a chunk or a document: beside the choices, in place of all, or, with
// OpenRouter and Groq, in members of their own.
func (c *chatChunk) failed() (document []byte, failed bool) {
	if isError(c.failure) || c.object.Str == nameOfErrors || c.kind.Str == nameOfErrors {
		return []byte(c.raw), true
	}
	if e := c.groq.Get("error"); isError(e) {
		return within(e), true
	}
	c.choices.ForEach(func(_, choice gjson.Result) bool {
		if failed = choice.Get("finish_reason").Str == nameOfErrors; !failed {
			return true
		}
		if document = []byte(c.raw); isError(choice.Get("error")) {
			document = within(choice.Get("error"))
		}
		return false
	})
	return document, failed
}

// within is an error as the member of a document.
func within(e gjson.Result) []byte { return []byte(`{"error":` + e.Raw + "}") }

// empty reports that there is no choice; some say null for none, or nothing: then nothing else may be in the chunk either.
func (c *chatChunk) empty() bool {
	if c.choices.Type == gjson.Null {
		return c.bare()
	}
	return c.choices.IsArray() && c.choices.Get("#").Int() == 0
}

// bareMembers are those of a chunk that has nothing to say but usage.
var bareMembers = []string{
	"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "provider", "obfuscation", "x_groq",
}

// bare reports that a chunk has no members but those of every chunk.
func (c *chatChunk) bare() bool {
	bare := true
	gjson.Parse(c.raw).ForEach(func(name, _ gjson.Result) bool {
		bare = slices.Contains(bareMembers, name.Str)
		return bare
	})
	return bare
}

// add reads the usage of a chunk or a document. It is within a member of its own with Groq.
func (c *chatChunk) add(u *dialect.Usage) {
	addOpenAI(u, c.groq.Get("usage"))
	addOpenAI(u, c.usage)
}

// unusualChat reads an event without a finish reason: the usage chunk, an error, or a chunk of a provider
// that leaves the reason out.
func unusualChat(t *tally, name, data []byte) (usageChunk bool) {
	c := readChunk(data)
	c.add(&t.usage)
	if document, failed := c.failedAs(name, data); failed {
		t.fail(document)
		return false
	}
	if c.empty() {
		return c.usage.IsObject()
	}
	if n := anyText(data, chatTexts); n > 0 {
		t.delta(n)
	}
	return false
}

// isError reports whether the value of a member named error is one: an object, a text, or the word that there is one.
func isError(v gjson.Result) bool {
	return v.IsObject() || v.Type == gjson.True || v.Type == gjson.String && v.Str != ""
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
		return choices[0] == 'n'
	}
	first := bytes.TrimLeft(choices[1:], " \t\r\n")
	return len(first) == 0 || first[0] == ']'
}
