// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"net/url"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// formats are operations of every format, for meters of dialects that know few of them: what is not theirs they must
// bear all the same.
var formats = []dialect.Operation{
	{Name: "chat", Format: dialect.FormatChat},
	{Name: "responses", Format: dialect.FormatResponses},
	{Name: "messages", Format: dialect.FormatMessages},
	{Name: "generate", Format: dialect.FormatGenerate, Stream: true},
	{Name: "converse", Format: dialect.FormatConverse, Stream: true},
	{Name: "invoke", Format: dialect.FormatInvoke},
	{Name: "chat", Format: dialect.FormatCohere},
	{Name: "generate", Format: dialect.FormatOllama},
	{Name: "generate", Format: dialect.FormatTGI},
	{Name: "embeddings", Format: dialect.FormatChat},
	{Name: "other"},
}

func operation(_ dialect.Dialect, which uint8) dialect.Operation {
	op := formats[int(which)%len(formats)]
	op.Metered = op.Format != ""
	return op
}

// names is the closed set of operations' names.
const names = " chat messages responses embeddings completions generate converse invoke other "

// FuzzRequest: any method, target, headers and body, with every dialect.
func FuzzRequest(f *testing.F) {
	for _, m := range recorded(f, requests) {
		f.Add(m.dialect, m.start[0], m.start[1], m.fields, m.body)
	}
	f.Add(uint8(0), "POST", "/v1/%2e%2e/chat/completions", "", `{"stream":true,"stream_options":null}`)
	f.Fuzz(func(t *testing.T, n uint8, method, target, fields, body string) {
		d := numbered(n)
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return // no server hands it on
		}
		path := u.EscapedPath()
		op := d.Operation(method, path)
		if op.Metered && (op.Free || op.Format == "") || !strings.Contains(names, " "+op.Name+" ") {
			t.Errorf("%+v", op)
		}
		if sent := d.Path(path); strings.Contains(sent, "/../") || !strings.HasPrefix(sent, "/") {
			t.Errorf("%q goes to %q", path, sent)
		}
		if again := d.Path(d.Path(path)); again != d.Path(path) {
			t.Errorf("%q becomes %q, and then %q", path, d.Path(path), again)
		}
		h := header(fields)
		r := d.ReadRequest(op, h.Get("Content-Type"), []byte(body))
		if r.TextBytes < 0 || r.MediaTokens < 0 || r.MaxOutputTokens < 0 || r.Choices < 0 {
			t.Errorf("%+v", r)
		}
		if splice, ok := d.InjectUsage(op, []byte(body)); ok && (splice.From < 0 || splice.To < splice.From || splice.To > len(body)) {
			t.Errorf("%+v of %d bytes", splice, len(body))
		}
		checkCredential(t, d, h, u.RawQuery)
	})
}

// checkCredential: the gateway's key is the only one left.
func checkCredential(t *testing.T, d dialect.Dialect, h map[string][]string, query string) {
	t.Helper()
	d.Fingerprint(h, query)
	out := d.SetCredential(h, query, "ours")
	holders := strings.Count(out, "ours")
	for _, lines := range h {
		for _, line := range lines {
			if line == "ours" || line == "Bearer ours" {
				holders++
			}
		}
	}
	if holders == 0 {
		t.Errorf("the key is nowhere: %v, %q", h, out)
	}
}
