// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// providersOutput is how many tokens the simulated provider produces for a call that allows more.
const providersOutput = 16

// errCorrupt is an answer that ended without an error and is not the provider's.
var errCorrupt = errors.New("the answer is not whole")

// answer is what an SDK gave, as an app would show it.
type answer struct {
	text []byte
	// done: the answer itself said that it is over.
	done bool
}

// check compares the answer's checksum with that of what the provider says to everybody.
func (a *answer) check(allowed int64) error {
	want := fakeprovider.Text(min(allowed, providersOutput))
	if !a.done || sha256.Sum256(a.text) != sha256.Sum256([]byte(want)) {
		return fmt.Errorf("%w: %d bytes of %d, over: %t", errCorrupt, len(a.text), len(want), a.done)
	}
	return nil
}
