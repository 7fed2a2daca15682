// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// TestADocumentInThePlaceOfEventsIsReadAsOne however it is cut, and nothing else is taken for one.
func TestADocumentInThePlaceOfEventsIsReadAsOne(t *testing.T) {
	for name, tc := range map[string]struct {
		body                   string
		failed, complete, bare bool
		output                 int64
	}{
		"an error":         {`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, true, true, true, -1},
		"behind a mark":    {"\ufeff \r\n" + `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, true, true, true, -1},
		"an answer":        {`{"type":"message","usage":{"input_tokens":3,"output_tokens":7}}`, false, true, true, 7},
		"half an error":    {`{"type":"error","error":{"type":"overloaded_`, true, false, true, -1},
		"events":           {"data: {\"type\":\"message_stop\"}\n\n", false, true, false, -1},
		"events, a mark":   {"\ufeff: {\n\ndata: {\"type\":\"message_stop\"}\n\n", false, true, false, -1},
		"not quite marks":  {"\ufffd{\"type\":\"error\"}\n\n", false, false, false, -1},
		"a letter":         {"\u057d{\"type\":\"error\"}\n\n", false, false, false, -1},
		"half a letter":    {"\xd5{\"type\":\"error\"}\n\n", false, false, false, -1},
		"an array":         {`[{"type":"error","error":{"type":"overloaded_error","message":"x"}}]`, true, true, false, -1},
		"nothing":          {" \n", false, false, false, -1},
		"an event with it": {"x\n{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", false, false, false, -1},
	} {
		for cut := range len(tc.body) + 1 {
			m := streamMeter("messages", false)
			if got := relay(m, []byte(tc.body[:cut]), []byte(tc.body[cut:])); string(got) != tc.body {
				t.Errorf("%s, cut at %d: %q passes", name, cut, got)
			}
			_, failed := m.StreamFailure()
			if failed != tc.failed || m.Complete() != tc.complete || m.Usage().Output != tc.output || m.(*bareMeter).bare != tc.bare {
				t.Errorf("%s, cut at %d: failed %v, complete %v, %+v", name, cut, failed, m.Complete(), m.Usage())
			}
			if tc.bare && m.ContentSeen() != (tc.complete && !tc.failed) {
				t.Errorf("%s, cut at %d: content %v", name, cut, m.ContentSeen())
			}
		}
	}
}

// TestEventsOfAnotherTypeAreReadAsEvents where a stream was asked for: servers and proxies send them as text, as bytes and as JSON.
// The first byte tells, however they are cut; the chunk that was asked for goes, and documents are read as ever.
func TestEventsOfAnotherTypeAreReadAsEvents(t *testing.T) {
	const (
		chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n"
		use   = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":7}}\n\n"
		end   = "data: [DONE]\n\n"
	)
	for name, tc := range map[string]struct {
		body, passes                      string
		found, content, complete, failing bool
		output                            int64
	}{
		"a stream":        {chunk + use + end, chunk + end, true, true, true, false, 7},
		"behind a mark":   {"\ufeff" + chunk + use + end, "\ufeff" + chunk + end, true, true, true, false, 7},
		"behind blanks":   {"\r\n\n" + chunk + use + end, "\r\n\n" + chunk + end, true, true, true, false, 7},
		"behind comments": {": PROCESSING\n\n" + chunk + use + end, ": PROCESSING\n\n" + chunk + end, true, true, true, false, 7},
		"behind a time":   {"retry: 5\n\n" + chunk + use + end, "retry: 5\n\n" + chunk + end, true, true, true, false, 7},
		"behind an id":    {"id: 1\n" + chunk + use + end, "id: 1\n" + chunk + end, true, true, true, false, 7},
		"named":           {"event: message\n" + chunk + use + end, "event: message\n" + chunk + end, true, true, true, false, 7},
		"half a stream":   {chunk + chunk, chunk + chunk, true, true, false, false, -1},
		"an error":        {"data: {\"error\":{\"code\":\"overloaded\"}}\n\n", "data: {\"error\":{\"code\":\"overloaded\"}}\n\n", false, false, false, true, -1},
		"a document":      {`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":7}}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":7}}`, false, true, true, false, 7},
		"an array":        {`[1]`, `[1]`, false, true, true, false, -1},
		"a page":          {"<html>\n\ndata: x", "<html>\n\ndata: x", false, true, false, false, -1},
		"words":           {"internal error", "internal error", false, false, false, false, -1},
		"nothing":         {" \n", " \n", false, false, false, false, -1},
	} {
		for _, media := range []string{typeText, typeJSON, "application/octet-stream"} {
			for cut := range len(tc.body) + 1 {
				op := dialect.Operation{Name: "chat", Format: dialect.FormatChat, Metered: true}
				m := New(op, http.Header{"Content-Type": {media}}, dialect.MeterOptions{Stream: true, StripUsage: true, Choices: 2}, testClass)
				got := relay(m, []byte(tc.body[:cut]), []byte(tc.body[cut:]))
				_, failed := m.StreamFailure()
				if string(got) != tc.passes || FoundEvents(m) != tc.found || m.ContentSeen() != tc.content || failed != tc.failing || m.Usage().Output != tc.output {
					t.Errorf("%s as %s, cut at %d: %q passes, found %v, content %v, failed %v, %+v", name, media, cut, got, FoundEvents(m), m.ContentSeen(), failed, m.Usage())
				}
				if m.Complete() != tc.complete {
					t.Errorf("%s as %s, cut at %d: complete %v", name, media, cut, m.Complete())
				}
			}
		}
	}
}
