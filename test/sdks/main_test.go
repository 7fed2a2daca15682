// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"flag"
	"os"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

var (
	binary string
	update = flag.Bool("update", false, "write testdata/matrix.json and the table in docs/sdks.md")
)

// goApp names the Go SDK that this process is an app of, instead of a test.
const goApp = "HEADGATE_TEST_APP"

// TestMain makes one binary of both: the tests, and the apps that use Go SDKs.
func TestMain(m *testing.M) {
	if name := os.Getenv(goApp); name != "" {
		serveGoApp(name)
		return
	}
	// Rows mostly wait; more of them at a time than there are cores make it no slower for any.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(dataplane.Main(m, &binary))
}
