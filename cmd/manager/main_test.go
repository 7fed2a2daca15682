// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log"
	"log/slog"
	"os"
	"path/filepath"
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

// TestWhatLibrariesQuoteIsNotWritten: net/http quotes what the API server sends behind an answer, which may be anybody's Secret.
func TestWhatLibrariesQuoteIsNotWritten(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	stderr, flags, before := os.Stderr, log.Flags(), slog.Default()
	os.Stderr = file
	t.Cleanup(func() {
		os.Stderr = stderr
		slog.SetDefault(before)
		log.SetFlags(flags)
		log.SetOutput(stderr)
	})
	if err := run([]string{"--namespace=headgate-system", "--gateway-image=g", "--advertise-address=10.0.0.1", "--kubeconfig=/none"}); err == nil {
		t.Fatal("it runs without an API server")
	}
	log.Printf("Unsolicited response received on idle HTTP channel starting with %q", "sesame")
	text, err := os.ReadFile(file.Name())
	if err != nil || !strings.Contains(string(text), `"text":"Unsolicited response`) || strings.Contains(string(text), "sesame") {
		t.Errorf("%v, it says: %s", err, text)
	}
}
