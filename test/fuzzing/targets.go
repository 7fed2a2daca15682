// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Target is one fuzz target.
type Target struct {
	// Dir is its package's folder, below the root.
	Dir, Name string
}

// String is what a target is called, in lists and in messages.
func (t Target) String() string { return t.Dir + " " + t.Name }

var declared = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]+)\(`)

// Find returns the targets below folders of root, or below root; in the order of folders and names.
func Find(root string, dirs ...string) (all []Target, err error) {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			more, err := in(root, path)
			all = append(all, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b Target) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(all), nil
}

func in(root, path string) (targets []Target, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Rel(root, filepath.Dir(path))
	for _, m := range declared.FindAllSubmatch(content, -1) {
		targets = append(targets, Target{Dir: filepath.ToSlash(dir), Name: string(m[1])})
	}
	return targets, err
}

// folders are the packages of targets, each once.
func folders(targets []Target) (dirs []string) {
	for _, t := range targets {
		if !slices.Contains(dirs, t.Dir) {
			dirs = append(dirs, t.Dir)
		}
	}
	return dirs
}
