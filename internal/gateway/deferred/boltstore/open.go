// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

const (
	fileName = "deferred.db"
	// brokenMark beside the file says that the last run found it damaged while it used it.
	brokenMark = fileName + ".broken"
	// asideName is what a damaged file is renamed to. There is one: another one replaces it.
	asideName = fileName + ".damaged"
	// bboltWait is for bbolt's own lock, which nobody holds who does not hold ours.
	bboltWait = time.Second
)

var (
	bucketTickets = []byte("tickets")
	bucketRequest = []byte("request")
	bucketAnswer  = []byte("answer")
	bucketMeta    = []byte("meta")
	keyLastSeen   = []byte("last-seen")
)

// Open opens the store in dir, and makes one where there is none. A damaged one is put aside: aside is then its new
// path, and the store is empty.
func Open(dir string) (s *Store, aside string, err error) {
	return openWithin(dir, lockWait)
}

func openWithin(dir string, wait time.Duration) (*Store, string, error) {
	l, err := acquire(dir, wait)
	if err != nil {
		return nil, "", err
	}
	s, aside, err := openLocked(dir)
	if err != nil {
		return nil, aside, errors.Join(err, l.Close())
	}
	s.lock = l
	return s, aside, nil
}

// openLocked opens the file; the lock is held.
func openLocked(dir string) (*Store, string, error) {
	path, mark := filepath.Join(dir, fileName), filepath.Join(dir, brokenMark)
	if _, err := os.Lstat(mark); errors.Is(err, os.ErrNotExist) {
		s, err := openFile(dir, path)
		if !errors.Is(err, errDamaged) {
			return s, "", err
		}
	}
	aside := filepath.Join(dir, asideName)
	if err := os.Rename(path, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", fmt.Errorf("put the damaged store aside: %w", err)
	}
	if err := os.Remove(mark); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", err
	}
	s, err := openFile(dir, path)
	return s, aside, err
}

// openFile opens a file that is whole. One that turns out not to be is left open: locks of bbolt may be held for ever.
func openFile(dir, path string) (*Store, error) {
	if err := verify(path); err != nil {
		return nil, err
	}
	var db *bbolt.DB
	err := guard(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: bboltWait})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the store of deferred calls: %w", err)
	}
	if err := guard(func() error { return db.Update(prepare) }); err != nil {
		return nil, err
	}
	s := newStore(db, dir)
	if err := s.startClock(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare makes what is missing.
func prepare(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketTickets, bucketRequest, bucketAnswer, bucketMeta} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			// One of another kind stands in its place.
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	return nil
}
