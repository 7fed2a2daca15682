// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var converseTexts = [][]byte{[]byte(`text"`), []byte(`input"`)}

// converse reads one event of a Converse stream, or the document, which has no name.
func converse(t *tally, name, data []byte) bool {
	switch string(name) {
	case "contentBlockDelta":
		t.delta(anyText(data, converseTexts))
	case "messageStop":
		t.complete, t.content = true, true
	case "contentBlockStop":
		t.content = true
	case "metadata", "":
		addConverse(&t.usage, gjson.GetBytes(data, "usage"))
	}
	return false
}

// addConverse reads the usage objects of Converse. Cached tokens lie outside the input.
func addConverse(u *dialect.Usage, v gjson.Result) {
	if !v.IsObject() {
		return
	}
	replace(&u.Input, v.Get("inputTokens"))
	grow(&u.Output, v.Get("outputTokens"))
	replace(&u.CachedRead, v.Get("cacheReadInputTokens"), v.Get("cacheReadInputTokenCount"))
	replace(&u.CacheWrite, v.Get("cacheWriteInputTokens"), v.Get("cacheWriteInputTokenCount"))
	u.CacheOutside = true
}
