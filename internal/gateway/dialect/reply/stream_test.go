// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package reply

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// oneEvent is an event of one line of data, with a name or without.
var oneEvent = regexp.MustCompile(`^(event: (error|message-end)\n)?data: ([^\r\n]*)\n\n$`)

// TestB14NothingThatFailsBecomesMoreThanOneEvent: whoever writes the body of an error must not write events of a stream.
func TestB14NothingThatFailsBecomesMoreThanOneEvent(t *testing.T) {
	parts := []string{
		"{", "}", "[", "]", `"error"`, `"type"`, `"message"`, ":", ",", `"error":{"type":"a","message":"b"}`, `{"error":"x"}`, "null", "\n", "\r", "\r\n",
		"\n\ndata: [DONE]\n\n", "data:", "event: error", `"a\nb"`, "\"a\nb\"", "\u2028", "\xff", "\x00", " ", "1", `{"type":"error","error":{"type":"t","message":"m"}}`,
	}
	whole := []string{
		"{\n\n\"error\":{\"type\":\"a\",\r\n\"message\":\"b\"}}", "[{\"error\":\n\n{\"message\":\"data: x\"}}\n\n]", "{\"type\":\"error\",\n\n\"error\":{\"type\":\"t\"}}",
	}
	formats := []dialect.Format{
		dialect.FormatChat, dialect.FormatResponses, dialect.FormatMessages, dialect.FormatGenerate, dialect.FormatCohere, "",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			if rapid.Bool().Draw(t, "whole "+name) {
				return rapid.SampledFrom(whole).Draw(t, name)
			}
			return string(slices.Concat(rapid.SliceOfN(rapid.Map(rapid.SampledFrom(parts), func(s string) []byte { return []byte(s) }), 0, 12).Draw(t, name)...))
		}
		f := dialect.StreamFailure{Status: rapid.IntRange(100, 600).Draw(t, "status"), Document: []byte(text("document")), Message: text("message")}
		event := StreamError(rapid.SampledFrom(formats).Draw(t, "format"), f)
		m := oneEvent.FindSubmatch(event)
		if m == nil {
			t.Fatalf("%q", event)
		}
		var object map[string]any
		if err := json.Unmarshal(m[3], &object); err != nil || object["error"] == nil && object["delta"] == nil {
			t.Fatalf("%q: %v", event, err)
		}
	})
}
