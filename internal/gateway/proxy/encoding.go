// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

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

// decoderOf returns what reads a content coding; nil for one that is not read. The gateway asks for gzip at most, so
// brotli comes where it may not change what the app asked for.
func decoderOf(coding string) func(io.Reader) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "br":
		return func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	}
	return nil
}

// oneWindow is held while brotli is decoded: its window may take megabytes for a body of bytes.
var oneWindow sync.Mutex

// wideWindow finds windows above four megabytes (RFC 7932, 9.1), which no server makes unless it is told to.
func wideWindow(body []byte) bool {
	const usual = 5 // 22 bits; the three bits behind a set one are what exceeds 17
	return len(body) > 0 && body[0]&1 == 1 && body[0]>>1&7 > usual
}

// compressedMeter meters a compressed body: it keeps a copy and reads it at the end.
type compressedMeter struct {
	dialect.Meter
	decode   func(io.Reader) (io.Reader, error)
	brotli   bool
	copied   bytes.Buffer
	overflow bool
	passed   bool
	// unread: the copy could not be decoded to its end, so that nothing is known of the body's.
	unread bool
}

func (m *compressedMeter) Write(p []byte) []byte {
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
func (m *compressedMeter) Close() []byte {
	m.unread = true
	if m.overflow || m.brotli && wideWindow(m.copied.Bytes()) {
		return nil
	}
	if m.brotli {
		oneWindow.Lock()
		defer oneWindow.Unlock()
	}
	z, err := m.decode(&m.copied)
	if err != nil {
		return nil
	}
	buf := make([]byte, 32<<10)
	for total := 0; total < maxUncompressed; {
		n, err := z.Read(buf)
		m.Meter.Write(buf[:n])
		total += n
		if err != nil {
			m.unread = false
			break
		}
	}
	m.Meter.Close()
	return nil
}

func (m *compressedMeter) ContentSeen() bool { return m.passed }

// Complete is the word of the meter below, where it saw all of the body.
func (m *compressedMeter) Complete() bool { return m.unread || m.Meter.Complete() }

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
