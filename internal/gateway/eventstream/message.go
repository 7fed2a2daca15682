// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package eventstream

import "encoding/binary"

// Message is one message. Its slices are valid only during the call.
type Message struct {
	// Headers are encoded; Header finds one.
	Headers []byte
	// Payload is nil if Large.
	Payload []byte
	// Large: the message is larger than MaxMessage and its payload was not kept.
	Large bool
}

// The types of header values.
const (
	typeTrue = iota
	typeFalse
	typeByte
	typeShort
	typeInt
	typeLong
	typeBytes
	typeString
	typeTimestamp
	typeUUID
)

// widths are the lengths of the values of fixed length, by type.
var widths = [...]int{
	typeTrue: 0, typeFalse: 0, typeByte: 1, typeShort: 2, typeInt: 4, typeLong: 8, typeTimestamp: 8, typeUUID: 16,
}

// Header is the value of the first header of that name which is a string; nil if there is none.
func (m Message) Header(name string) []byte {
	for rest := m.Headers; len(rest) > 0; {
		key, kind, value, behind, ok := header(rest)
		if !ok {
			return nil
		}
		if kind == typeString && string(key) == name {
			return value
		}
		rest = behind
	}
	return nil
}

// header reads the header that encoded begins with.
func header(encoded []byte) (name []byte, kind int, value, rest []byte, ok bool) {
	at := 1 + int(encoded[0])
	if at >= len(encoded) {
		return nil, 0, nil, nil, false
	}
	name, kind, rest = encoded[1:at], int(encoded[at]), encoded[at+1:]
	var width int
	switch {
	case kind == typeBytes || kind == typeString:
		if len(rest) < 2 {
			return nil, 0, nil, nil, false
		}
		width, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
	case kind < len(widths):
		width = widths[kind]
	default:
		return nil, 0, nil, nil, false
	}
	if width > len(rest) {
		return nil, 0, nil, nil, false
	}
	return name, kind, rest[:width], rest[width:], true
}
