// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"slices"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
)

// FuzzCoded: whatever a body is that says it is in a content coding, reading it ends, and it costs no more than the most that is
// read of one; in a coding it costs what it costs without.
func FuzzCoded(f *testing.F) {
	for _, coding := range []string{"gzip", "br", "deflate", "zstd"} {
		f.Add(coding, []byte(`{"model":"m","messages":[]}`), true)
		f.Add(coding, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), false)
	}
	f.Add("GZIP ", []byte("\xff\xfe{\x00}\x00"), true)
	f.Fuzz(func(t *testing.T, coding string, body []byte, code bool) {
		c := &call{
			cfg: &config{dialect: registry.ByName("Anthropic")}, op: dialect.Operation{Format: dialect.FormatMessages},
			r: &http.Request{Header: http.Header{"Content-Encoding": {coding}}},
		}
		plain := c.cfg.dialect.ReadRequest(c.op, "", body)
		if name := encoding(c.r.Header); code && slices.Contains([]string{"gzip", "br", "deflate", "zstd"}, name) {
			if got := c.readRequest([]byte(coded(t, name, string(body)))); got != plain {
				t.Errorf("%+v, and plain %+v", got, plain)
			}
		}
		if got := c.readRequest(body); got.TextBytes < 0 || got.TextBytes > maxUncompressed+int64(len(body)) || len(got.Model) > 1024 {
			t.Errorf("%+v", got)
		}
	})
}
