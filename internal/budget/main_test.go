// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes the eight property tests try 250 random systems each unless told otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "250"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
