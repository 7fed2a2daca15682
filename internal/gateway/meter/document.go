// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

// documentMeter meters a JSON document of any length.
type documentMeter struct {
	reading
	whole *members
	read  bool
}

func newDocumentMeter(r reading) *documentMeter {
	return &documentMeter{reading: r, whole: newMembers(r.shape.members)}
}

func (m *documentMeter) Write(p []byte) []byte {
	if len(p) == 0 {
		return p
	}
	m.content = true
	m.text += int64(len(p))
	m.whole.Write(p)
	if !m.read && m.whole.Complete() {
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
	m.read = true
	m.event(nil, m.whole.document())
	m.complete = m.whole.Complete()
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
