// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"slices"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/coding"
)

// FuzzCoded: whatever a body is that says it is in a content coding, reading it ends, and it costs no more than the most that is
// read of one; in a coding it costs what it costs without.
func FuzzCoded(f *testing.F) {
	for _, name := range []string{"gzip", "br", "deflate", "zstd"} {
		f.Add(name, []byte(`{"model":"m","messages":[]}`), true)
		f.Add(name, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), false)
	}
	f.Add("GZIP ", []byte("\xff\xfe{\x00}\x00"), true)
	for _, nested := range []string{"gzip, zstd", "br,deflate", "deflate, x-gzip", "gzip, gzip", "zstd, br"} {
		f.Add(nested, []byte(`{"model":"m","messages":[]}`), true)
		f.Add(nested, bytes.Repeat([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"), 100), true)
	}
	f.Fuzz(func(t *testing.T, header string, body []byte, code bool) {
		c := readCoded(t.Context(), header)
		plain := c.cfg.dialect.ReadRequest(c.op, "application/json", body)
		if names := coding.Names(c.r.Header); code && coding.Readable(names) {
			text := string(body)
			for _, name := range slices.Backward(names) {
				text = coded(t, name, text)
			}
			if got := c.readRequest([]byte(text)); got != plain || c.unread {
				t.Errorf("%+v, unread %v, and plain %+v", got, c.unread, plain)
			}
		}
		if got := c.readRequest(body); got.TextBytes < 0 || got.TextBytes > maxUncompressed+int64(len(body)) || len(got.Model) > 1024 {
			t.Errorf("%+v", got)
		}
	})
}
