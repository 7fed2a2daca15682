// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "github.com/tidwall/gjson"

// choices are those of a stream that was asked for several: each of them ends by itself, and the stream is whole when all
// that have begun are over.
type choices struct {
	begun, ended set
	// untold: one has no number of its own that fits, so that nobody can tell which are over.
	untold bool
}

// set is of the numbers below 128, the most choices that any API takes.
type set [2]uint64

func (s *set) add(i int64) { s[i/64] |= 1 << (i % 64) }

// saw notes a piece of the choice with a number, and whether it is its last.
func (c *choices) saw(number int64, last bool) {
	if number < 0 || number >= int64(len(c.begun)*64) {
		number, c.untold = 0, true
	}
	if c.begun.add(number); last {
		c.ended.add(number)
	}
}

func (c *choices) over() bool {
	return c.ended != (set{}) && (c.untold || c.ended == c.begun)
}

// severalChoices reads one event of a chat stream with several choices, of which it may hold more than one.
func severalChoices(t *tally, name, data []byte) (usageChunk bool) {
	c := readChunk(data)
	c.add(&t.usage)
	if document, failed := c.failedAs(name, data); failed {
		t.fail(document)
		return false
	}
	if c.empty() {
		return c.usage.IsObject()
	}
	c.choices.ForEach(func(_, choice gjson.Result) bool {
		number, reason := int64(-1), choice.Get("finish_reason")
		if index := choice.Get("index"); isCount(index) {
			number = count(index)
		}
		last := reason.Type == gjson.String && reason.Str != ""
		t.several.saw(number, last)
		t.content = t.content || last
		if n := anyText([]byte(choice.Raw), chatTexts); n > 0 {
			t.delta(n)
		}
		return true
	})
	t.complete = t.several.over()
	return false
}
