// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	lockName = "deferred.lock"
	// lockWait is how long another process may hold the store: the gateway before this one is ending, or a command runs.
	lockWait  = 2 * time.Second
	lockAgain = 20 * time.Millisecond
)

// ErrLocked says that another process uses the store.
var ErrLocked = errors.New("another process uses the store of deferred calls")

// acquire takes the lock of a directory, which goes with the process. bbolt's own lock is taken too late: the file is
// looked at, and may be put aside, before bbolt sees it.
func acquire(dir string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // G304: in the operator's directory
	if err != nil {
		return nil, fmt.Errorf("lock the store of deferred calls: %w", err)
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(lockAgain) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, errors.Join(fmt.Errorf("lock the store of deferred calls: %w", err), f.Close())
		case time.Now().After(deadline):
			return nil, errors.Join(ErrLocked, f.Close())
		}
	}
}
