// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// documentMeter meters a JSON document of any length.
type documentMeter struct {
	tally
	watch *jsonscan.Stream
	add   func(*dialect.Usage, gjson.Result)
	read  bool
	// noOutput: the document holds vectors, not text.
	noOutput bool
}

var documentPaths = []string{"usage", "error"}

func (m *documentMeter) Write(p []byte) []byte {
	if len(p) == 0 {
		return p
	}
	m.content = true
	m.text += int64(len(p))
	m.watch.Write(p)
	if !m.read && m.watch.Complete() {
		m.finish()
	}
	return p
}

// Close reads the usage of a document that broke off behind it.
func (m *documentMeter) Close() []byte {
	m.finish()
	return nil
}

func (m *documentMeter) finish() {
	if m.read {
		return
	}
	m.read, m.complete = true, m.watch.Complete()
	if usage := m.watch.Value(0); bytes.HasPrefix(usage, []byte{'{'}) {
		m.add(&m.usage, gjson.ParseBytes(usage))
	}
	if e := m.watch.Value(1); bytes.HasPrefix(e, []byte{'{'}) {
		m.fail([]byte(`{"error":` + string(e) + "}"))
	}
}

// OutputSoFar implements dialect.Meter.
func (m *documentMeter) OutputSoFar() int64 {
	if m.noOutput {
		return max(m.usage.Output, 0)
	}
	return m.tally.OutputSoFar()
}

// opaqueMeter passes what it cannot read: compressed bodies. Their end is the transfer's own.
type opaqueMeter struct{ tally }

func (m *opaqueMeter) Write(p []byte) []byte {
	m.content = m.content || len(p) > 0
	return p
}

func (m *opaqueMeter) Close() []byte {
	m.complete = true
	return nil
}
