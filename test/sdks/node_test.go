// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

const npmFolder = "npm"

// oldestNode is the major version of Node that the SDKs support.
const oldestNode = 22

// node finds the Node that the lock brings, or else one of this machine. Without it there is no matrix.
func node(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(npmFolder, "node_modules", "openai")); err != nil {
		t.Fatalf("the SDKs are not installed: run make sdks (%v)", err)
	}
	// Not every npm links it into .bin, and for some platforms the lock has none.
	own, err := filepath.Glob(filepath.Join(npmFolder, "node_modules", "node-*", "bin", "node"))
	if err == nil && len(own) == 1 {
		if own[0], err = filepath.Abs(own[0]); err == nil {
			return own[0]
		}
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("there is no node: run make sdks, or install Node %d or newer (%v)", oldestNode, err)
	}
	version, err := exec.Command(path, "--version").Output()
	major := regexp.MustCompile(`^v(\d+)\.`).FindSubmatch(version)
	if err != nil || major == nil {
		t.Fatalf("%s --version: %q %v", path, version, err)
	}
	if n, _ := strconv.Atoi(string(major[1])); n < oldestNode {
		t.Fatalf("%s is %s, and the SDKs need Node %d: run make sdks", path, version, oldestNode)
	}
	return path
}

// npmVersions are the exact versions that are installed, by package.
func npmVersions(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(npmFolder, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Dependencies
}
