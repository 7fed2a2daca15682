// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// failures are how an answer may have failed, in the shapes that apps meet; "" is the dialect's own.
var failures = map[string]struct{ document, message string }{
	"its own":             {"", "headgate: no room"},
	"OpenAI's":            {`{"error": {"message": "no room", "type": "rate_limit_error", "param": null, "code": "rate_limit_exceeded"}}`, "no room"},
	"Anthropic's":         {`{"type":"error","error":{"type":"rate_limit_error","message":"no room"},"request_id":"req_1"}`, "no room"},
	"Google's":            {`{"error":{"code":429,"message":"no room","status":"RESOURCE_EXHAUSTED"}}`, "no room"},
	"Google's, in a list": {"[{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"no room\",\n    \"status\": \"RESOURCE_EXHAUSTED\"\n  }\n}\n]", "no room"},
	"a text":              {`{"error":"no room"}`, "no room"},
	"a flat one":          {`{"message":"no room"}`, "no room"},
	"a page":              {"<html>\n<h1>no room</h1></html>", "no room"},
	"no error":            {`{"error":null,"id":"1"}`, "no room"},
	"broken":              {`{"error":{"message":"no `, "no room"},
	"nothing":             {"", "no room"},
}

// TestB14StreamErrorsAreRaisedInEveryFormat: whatever failed, the event says it on one line of data, as the error of the
// operation's format, and the dialect's own meter takes it for the failure that it was.
func TestB14StreamErrorsAreRaisedInEveryFormat(t *testing.T) {
	for _, f := range facts.All() {
		d := ByName(f.Name)
		for _, format := range []dialect.Format{dialect.FormatChat, dialect.FormatResponses, dialect.FormatMessages, dialect.FormatGenerate, dialect.FormatCohere} {
			for shape, failed := range failures {
				if f.Name == "Bedrock" && (format == dialect.FormatGenerate || format == dialect.FormatCohere) || f.Name == "Cohere" && format != dialect.FormatCohere && format != dialect.FormatChat {
					continue // it has no such operation
				}
				t.Run(f.Name+" "+string(format)+", "+shape, func(t *testing.T) {
					document := []byte(failed.document)
					if shape == "its own" {
						_, _, document = d.Refusal(dialect.Refusal{Status: http.StatusTooManyRequests, Message: failed.message})
					}
					raisedAs(t, d, format, d.StreamError(dialect.Operation{Format: format}, dialect.StreamFailure{
						Status: http.StatusTooManyRequests, Document: document, Message: failed.message,
					}), failed.message)
				})
			}
		}
	}
}

func raisedAs(t *testing.T, d dialect.Dialect, format dialect.Format, event []byte, message string) {
	t.Helper()
	m := d.NewMeter(dialect.Operation{Format: format, Metered: true}, http.Header{"Content-Type": {"text/event-stream"}}, dialect.MeterOptions{Stream: true})
	m.Write([]byte(": ping\n\n\n\n"))
	m.Write(event)
	if f, ok := m.StreamFailure(); !ok || f.Message != message {
		t.Errorf("%q is read as %+v", event, f)
	}
	name, data, _ := strings.Cut(string(event), "data: ")
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &doc); err != nil || !strings.HasSuffix(data, "\n\n") || strings.Count(data, "\n") != 2 {
		t.Errorf("%q: %v", event, err)
	}
	switch format {
	case dialect.FormatCohere:
		if name != "event: message-end\n" {
			t.Errorf("%q", event)
		}
	case dialect.FormatMessages, dialect.FormatResponses:
		if name != "event: error\n" || string(doc["type"]) != `"error"` || len(doc["error"]) == 0 {
			t.Errorf("%q", event)
		}
	default:
		if name != "" || len(doc["error"]) == 0 || string(doc["error"]) == "null" {
			t.Errorf("%q", event)
		}
	}
}
