// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"encoding/binary"
	"hash/crc32"
)

// preludeOf is a prelude whose checksum is right, whatever it says.
func preludeOf(total, headers uint32) []byte {
	p := binary.BigEndian.AppendUint32(nil, total)
	p = binary.BigEndian.AppendUint32(p, headers)
	return binary.BigEndian.AppendUint32(p, crc32.ChecksumIEEE(p))
}
