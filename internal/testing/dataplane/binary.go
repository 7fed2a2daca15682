// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Main builds the gateway, puts the path of the binary into *binary, and runs the tests of a package.
func Main(m *testing.M, binary *string) int {
	dir, err := os.MkdirTemp("", "headgate-dataplane")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	*binary = filepath.Join(dir, "gateway")
	build := exec.Command("go", "build", "-o", *binary, "github.com/headgate-dev/headgate/cmd/gateway")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the gateway: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
