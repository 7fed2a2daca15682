// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// Bounds on what is decoded beside the relay. What exceeds them is passed on all the same, unmetered.
const (
	maxCompressed   = 4 << 20
	maxUncompressed = 32 << 20
	maxFailureBody  = 64 << 10
)

// encoding is the content coding of a response, lower case; "" is none.
func encoding(h http.Header) string {
	e := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding")))
	if e == "identity" {
		return ""
	}
	return e
}

// gunzip decodes the first maxFailureBody bytes, as far as they can be read.
func gunzip(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	plain, _ := io.ReadAll(io.LimitReader(z, maxFailureBody))
	return plain
}

// gzipMeter meters a compressed body: it keeps a copy and reads it at the end.
type gzipMeter struct {
	dialect.Meter
	copied   bytes.Buffer
	overflow bool
	passed   bool
}

func (m *gzipMeter) Write(p []byte) []byte {
	m.passed = m.passed || len(p) > 0
	if m.overflow || m.copied.Len()+len(p) > maxCompressed {
		m.overflow = true
		m.copied = bytes.Buffer{}
		return p
	}
	m.copied.Write(p)
	return p
}

// Close decodes the copy into the meter below; nothing of it goes to the client.
func (m *gzipMeter) Close() []byte {
	if m.overflow {
		return nil
	}
	z, err := gzip.NewReader(&m.copied)
	if err != nil {
		return nil
	}
	buf := make([]byte, 32<<10)
	for total := 0; total < maxUncompressed; {
		n, err := z.Read(buf)
		m.Meter.Write(buf[:n])
		total += n
		if err != nil {
			break
		}
	}
	m.Meter.Close()
	return nil
}

func (m *gzipMeter) ContentSeen() bool { return m.passed }

// blind stands where a body cannot be read: it passes everything and knows nothing.
type blind struct{ passed bool }

func (m *blind) Write(p []byte) []byte {
	m.passed = m.passed || len(p) > 0
	return p
}

func (*blind) Close() []byte { return nil }

func (*blind) Usage() dialect.Usage {
	return dialect.Usage{Input: -1, Output: -1, CachedRead: -1, CacheWrite: -1, Reasoning: -1}
}

func (m *blind) ContentSeen() bool                    { return m.passed }
func (*blind) Complete() bool                         { return true }
func (*blind) StreamFailure() (dialect.Failure, bool) { return dialect.Failure{}, false }
func (*blind) OutputSoFar() int64                     { return 0 }
