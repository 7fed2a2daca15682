// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"errors"
	"os"
	"path/filepath"
)

// firstFile holds the name of the pod whose gateway began there last.
const firstFile = "began"

// First says that no gateway of the pod has begun before, by a mark that it leaves in the state directory. Without one, or
// where no mark can be left, nobody knows, and it is false.
func First(stateDir, pod string) bool {
	if stateDir == "" {
		return false
	}
	path := filepath.Join(stateDir, firstFile)
	last, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the directory
	if err == nil && string(last) == pod || err != nil && !errors.Is(err, os.ErrNotExist) {
		return false
	}
	return errors.Join(os.WriteFile(path+".new", []byte(pod), 0o600), os.Rename(path+".new", path)) == nil
}
