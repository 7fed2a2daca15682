// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"encoding/binary"
	"hash/crc32"
)

// Header is a header whose value is a string.
type Header struct{ Name, Value string }

// Append appends one message to dst. Names beyond 255 bytes and values beyond 65,535 are cut, since the
// format cannot hold more.
func Append(dst []byte, headers []Header, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, prelude)...)
	for _, h := range headers {
		name, value := h.Name[:min(len(h.Name), 1<<8-1)], h.Value[:min(len(h.Value), 1<<16-1)]
		dst = append(append(dst, byte(len(name))), name...)
		dst = binary.BigEndian.AppendUint16(append(dst, typeString), uint16(len(value)))
		dst = append(dst, value...)
	}
	headerBytes := len(dst) - start - prelude
	dst = append(dst, payload...)
	m := dst[start:]
	binary.BigEndian.PutUint32(m, uint32(len(m)+trailer))
	binary.BigEndian.PutUint32(m[4:], uint32(headerBytes))
	binary.BigEndian.PutUint32(m[8:], crc32.ChecksumIEEE(m[:8]))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(m))
}
