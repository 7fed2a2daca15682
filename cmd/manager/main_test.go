// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestWordsThatAreNoFlagsAreRefused: what stands behind them would not be read, and it may be a password in the wrong place.
func TestWordsThatAreNoFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"sesame"}, {"--log-level=debug", "sesame", "--openshift=true"}, {"--log-level", "debug", "sesame"}, {"--", "sesame"}, {"-", "sesame"},
	} {
		err := run(args)
		if err == nil || !strings.Contains(err.Error(), "a word that is no flag's") || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q: %v", args, err)
		}
	}
	// And those that are flags' are not: the next thing that is wrong is said.
	if err := run([]string{"--namespace=headgate-system", "--kubeconfig=/none", "--log-level=loud"}); err == nil || !strings.Contains(err.Error(), "--log-level: ") {
		t.Errorf("flags: %v", err)
	}
}
