// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

var responsesTexts = [][]byte{[]byte(`delta"`)}

// responses reads one event of a responses stream.
func responses(t *tally, name, data []byte) bool {
	if bytes.HasPrefix(data, done) {
		t.complete = true
		return false
	}
	kind := typeOf(name, data)
	switch kind {
	case "response.completed", "response.incomplete", "response.failed":
		v := gjson.GetBytes(data, "response")
		if usage := v.Get("usage"); usage.IsObject() {
			addOpenAI(&t.usage, usage)
		}
		t.complete = true
		if kind == "response.failed" {
			t.fail([]byte(v.Raw))
		}
	case "error":
		t.fail(data)
	case "", "response.created", "response.in_progress", "response.queued", "response.output_item.added",
		"response.content_part.added", "keepalive":
	default:
		if strings.HasSuffix(kind, ".delta") {
			t.delta(anyText(data, responsesTexts))
			return false
		}
		t.content = true
	}
	return false
}

// typeOf is the event's name, or its type where a provider names no events.
func typeOf(name, data []byte) string {
	if len(name) > 0 && string(name) != "message" {
		return string(name)
	}
	return gjson.GetBytes(data, "type").Str
}
