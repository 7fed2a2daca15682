// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var nameGenerated = []byte(`generated_text"`)

// tgi reads one event of generate_stream, which holds one token, or a document of generate.
func tgi(t *tally, name, data []byte) bool {
	generated := after(data, nameGenerated)
	if generated == nil || starts(generated, '"') || string(name) == "error" {
		tgiEnd(t, data)
	}
	if text := gjson.GetBytes(data, "token.text"); text.Type == gjson.String {
		t.delta(len(text.Str))
	}
	return false
}

// tgiEnd reads the last event, a document, or an error.
func tgiEnd(t *tally, data []byte) {
	v := gjson.ParseBytes(data)
	if v.IsArray() {
		v = v.Get("0")
	}
	if isError(v.Get("error")) {
		t.fail(data)
		return
	}
	details := v.Get("details")
	addTGI(&t.usage, details)
	if v.Get("generated_text").Type == gjson.String || details.Get("finish_reason").Type == gjson.String {
		t.complete, t.content = true, true
	}
}

// addTGI reads details. The length of the input stands in those of streams, and the input itself, token by
// token, in those of documents for which it was asked.
func addTGI(u *dialect.Usage, details gjson.Result) {
	grow(&u.Output, details.Get("generated_tokens"))
	replace(&u.Input, details.Get("input_length"))
	if prefill := int64(len(details.Get("prefill").Array())); prefill > 0 && u.Input < 0 {
		u.Input = prefill
	}
}

func tgiHeaders(u *dialect.Usage, h http.Header) {
	headerCount(&u.Input, h, "X-Prompt-Tokens")
	headerCount(&u.Output, h, "X-Generated-Tokens")
}
