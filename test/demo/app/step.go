// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// lookAgain is how often a file is looked for that another container writes.
const lookAgain = 100 * time.Millisecond

// appears waits for a file, and reports whether it came; none is there at once.
func appears(ctx context.Context, file string) bool {
	if file == "" {
		return true
	}
	for {
		if _, err := os.Stat(file); err == nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lookAgain):
		}
	}
}

// reported writes the exit code for another container, and returns it.
func reported(file string, code int, errOut io.Writer) int {
	if err := os.WriteFile(file, []byte(strconv.Itoa(code)), 0o644); err != nil {
		fmt.Fprintln(errOut, "app:", err)
		return exitFailed
	}
	return code
}
