// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "testing"

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
