// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/tidwall/gjson"
)

var (
	nameDelta   = []byte(`delta"`)
	deltaSuffix = []byte(".delta")
)

// responses reads one event of a responses stream.
func responses(t *tally, name, data []byte) bool {
	if bytes.HasPrefix(data, done) {
		t.complete = true
		return false
	}
	kind := typeOf(name, data)
	if bytes.HasSuffix(kind, deltaSuffix) {
		t.words.name = nameDelta
		t.delta(textLen(t.words.after(data)))
		return false
	}
	switch string(kind) {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		v := gjson.GetBytes(data, "response")
		addOpenAI(&t.usage, v.Get("usage"))
		t.complete = true
		if string(kind) == "response.failed" {
			t.fail([]byte(v.Raw))
		}
	case nameOfErrors, "response.error":
		t.fail(data)
	case "": // a document
		addOpenAI(&t.usage, gjson.GetBytes(data, "usage"))
		if isError(gjson.GetBytes(data, "error")) {
			t.fail(data)
		}
	case "response.created", "response.in_progress", "response.queued", "response.output_item.added",
		"response.content_part.added", "keepalive":
	default:
		t.content = true
	}
	return false
}

// typeOf is the event's name, or its type where a provider names no events.
func typeOf(name, data []byte) []byte {
	if len(name) > 0 && string(name) != "message" {
		return name
	}
	return []byte(gjson.GetBytes(data, "type").Str)
}
