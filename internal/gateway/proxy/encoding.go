// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/coding"
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

// compressedMeter meters a compressed body: it keeps a copy and reads it at the end. Until then nobody knows what it is, and
// the relay holds back of a document what it may.
type compressedMeter struct {
	dialect.Meter
	codings []string
	// stream: it comes in pieces that matter one by one, and none of them is held.
	stream   bool
	copied   bytes.Buffer
	overflow bool
	passed   bool
	// closed: the copy was read; refusal says that it is a document that says nothing but that the call is not served now.
	closed, refusal bool
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
	m.closed, m.unread = true, true
	if m.overflow {
		return nil
	}
	// What was relayed is charged by what it says, also where its client has left with it.
	_ = coding.Read(context.Background(), m.codings, m.copied.Bytes(), false, func(z io.Reader) {
		total, opens := m.decode(z)
		m.Meter.Close()
		f, failed := m.StreamFailure()
		m.refusal = failed && notNow(f.Class) && opens && total <= maxFailureBody
	})
	return nil
}

// decode reads the copy, and says how large it is and whether it opens like an error.
func (m *compressedMeter) decode(z io.Reader) (total int, opens bool) {
	buf := make([]byte, 32<<10)
	for total < maxUncompressed {
		n, err := z.Read(buf)
		m.Meter.Write(buf[:n])
		if total == 0 && n > 0 {
			opens, _ = opensError(buf[:n])
		}
		total += n
		if err != nil {
			m.unread = errors.Is(err, coding.ErrBomb)
			break
		}
	}
	return total, opens
}

// ContentSeen says that there is more than an error, once that is known.
func (m *compressedMeter) ContentSeen() bool {
	return m.passed && (m.stream || m.overflow || m.closed && !m.refusal)
}

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
