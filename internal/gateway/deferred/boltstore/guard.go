// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// errDamaged says that the file is not what was written to it.
var errDamaged = errors.New("the file is damaged")

// guard runs f, in which bbolt may panic, or fault on its mapping of the file, where the file is damaged.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	return f()
}
