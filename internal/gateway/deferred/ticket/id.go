// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ticket

import (
	"crypto/rand"
	"encoding/hex"
)

// idBytes makes IDs that cannot be guessed.
const idBytes = 16

// NewID returns an ID that nobody can guess.
func NewID() string {
	var b [idBytes]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return hex.EncodeToString(b[:])
}

// ValidID says whether id is one that NewID could have made.
func ValidID(id string) bool {
	if len(id) != 2*idBytes {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
