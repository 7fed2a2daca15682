// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// kubectl runs kubectl with a document as its input, and returns all that it printed.
func kubectl(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "kubectl", args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// mustKubectl is kubectl where it has to succeed.
func mustKubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := kubectl(t, input, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s\ninput:\n%s", strings.Join(args, " "), err, out, input)
	}
	return out
}
