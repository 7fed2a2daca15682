// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"time"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
)

// waitMembers are the members of errors that give a wait, as servers and the proxies in front of them name them.
var waitMembers = [...]struct {
	name string
	unit time.Duration
}{
	{"retry_after", time.Second},
	{"retryAfter", time.Second},
	{"retry_after_seconds", time.Second},
	{"retryAfterSeconds", time.Second},
	{"retry_after_ms", time.Millisecond},
	{"retryAfterMs", time.Millisecond},
}

// stated is the longest wait that a member of one of the objects gives, as a number, in a text or not, or with its units.
func stated(objects ...gjson.Result) (wait time.Duration, ok bool) {
	for _, object := range objects {
		if !object.IsObject() {
			continue
		}
		for _, m := range waitMembers {
			v := object.Get(m.name)
			text := word(v)
			value, valid := guidance.Number(text, m.unit)
			if !valid && v.Type == gjson.String {
				value, valid = guidance.GoDuration(text)
			}
			if valid {
				wait, ok = max(wait, value), true
			}
		}
	}
	return wait, ok
}

// Advice is the wait that the message gives, or one of other texts. Where a member gives one already, only what is said of
// a repeat counts beside it.
func (d Document) Advice(others ...string) (wait time.Duration, ok bool) {
	texts := append([]string{d.Message}, others...)
	if d.Waits {
		return guidance.Told(texts...)
	}
	return guidance.Advice(texts...)
}

// Longest is the longer of the wait that a member gives and of another one, where there are such.
func (d Document) Longest(wait time.Duration, ok bool) (longest time.Duration, either bool) {
	if !d.Waits {
		return wait, ok
	}
	return max(d.Wait, wait), true
}
