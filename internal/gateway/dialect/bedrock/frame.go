// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bedrock

import (
	"encoding/binary"
	"hash/crc32"
)

// header is one of a frame's, whose value is a string.
type header struct{ name, value string }

const (
	typeString = 7
	// overhead is the prelude (two lengths and their sum) and the sum of the whole.
	overhead = 16
)

// frame is a message of an AWS event stream: total length, length of the headers, CRC of both, headers, payload, CRC
// of all before. Names are shorter than 256 bytes and values than 65,536.
func frame(payload []byte, headers ...header) []byte {
	var fields []byte
	for _, h := range headers {
		fields = append(append(fields, byte(len(h.name))), h.name...)
		fields = binary.BigEndian.AppendUint16(append(fields, typeString), uint16(len(h.value)))
		fields = append(fields, h.value...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(overhead+len(fields)+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(fields)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, fields...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}
