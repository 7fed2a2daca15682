// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"path/filepath"
	"testing"
)

// A container that is started again in its pod is not the first, in another pod it is; without a directory nobody knows.
func TestFirst(t *testing.T) {
	dir := t.TempDir()
	for i, step := range []struct {
		dir, pod string
		want     bool
	}{
		{dir, "uid-1", true},
		{dir, "uid-1", false},
		{dir, "uid-1", false},
		{dir, "uid-2", true},
		{dir, "uid-2", false},
		{"", "uid-1", false},
		{filepath.Join(dir, "missing"), "uid-1", false},
	} {
		if got := First(step.dir, step.pod); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
