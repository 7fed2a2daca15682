// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package leaks

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is tenfold of goleak's own.
const patience = 5 * time.Second

// VerifyTestMain runs the tests and ends the process: not well if one of them failed, or left a goroutine behind.
func VerifyTestMain(m goleak.TestingM) { os.Exit(verify(m, patience)) }

func verify(m goleak.TestingM, within time.Duration) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := find(within); err != nil {
		fmt.Fprintln(os.Stderr, "tests left goroutines behind:", err)
		return 1
	}
	return 0
}

// Find is an error with the goroutines that are left.
func Find() error { return find(patience) }

func find(within time.Duration) error {
	err := goleak.Find()
	for end := time.Now().Add(within); err != nil && time.Now().Before(end); {
		err = goleak.Find()
	}
	return err
}
