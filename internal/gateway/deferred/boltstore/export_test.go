// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"errors"

	"go.etcd.io/bbolt"
)

// putRaw stores a record as it is, with a body.
func putRaw(id, record string) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		return errors.Join(tx.Bucket(bucketTickets).Put([]byte(id), []byte(record)), tx.Bucket(bucketRequest).Put([]byte(id), []byte("body")))
	}
}
