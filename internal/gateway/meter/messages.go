// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "github.com/tidwall/gjson"

var messagesTexts = [][]byte{[]byte(`text"`), []byte(`partial_json"`), []byte(`thinking"`)}

const contentDelta = "content_block_delta"

// messages reads one event of a messages stream.
func messages(t *tally, name, data []byte) bool {
	switch string(typeOf(name, data)) {
	case contentDelta:
		t.words.name = messagesTexts[0]
		n := textLen(t.words.after(data))
		if n == 0 {
			n = anyText(data, messagesTexts[1:])
		}
		t.delta(n)
	case "message_start":
		addAnthropic(&t.usage, gjson.GetBytes(data, "message.usage"))
		t.early = true
	case "message_delta":
		t.content = true
		usage := gjson.GetBytes(data, "usage")
		addAnthropic(&t.usage, usage)
		t.early = t.early && usage.Get("output_tokens").Num <= 0
	case "message": // a document
		addAnthropic(&t.usage, gjson.GetBytes(data, "usage"))
	case "message_stop":
		t.complete, t.content = true, true
	case "content_block_stop":
		t.content = true
	case nameOfErrors:
		t.fail(data)
	case "": // proxies put errors of their own into a stream
		if isError(gjson.GetBytes(data, "error")) {
			t.fail(data)
		}
	}
	return false
}
