// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestReloadNamesTheKeysThatAreOthers: what is asked anew for a key is asked for those alone that have changed, whatever else was
// written, and whatever is wrong with others.
func TestReloadNamesTheKeysThatAreOthers(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	at := time.Now().Add(-time.Hour)
	put := func(name, text string) {
		t.Helper()
		write(t, dir, name, text)
		at = at.Add(time.Second) // each is a time of its own, whatever the clock of the file system
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	mkdir := func(name string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		do     func()
		want   []string
		failed bool
	}{
		{"two that are new", func() { put("b", "b-1"); put("a", "a-1"); put("a.hosts", "one.example") }, []string{"a", "b"}, false},
		{"nothing", func() {}, nil, false},
		{"one written as it was", func() { put("a", "a-1") }, nil, false},
		{"a line's end alone", func() { put("a", "a-1\n") }, nil, false},
		{"a file that is no key", func() { put("README", "x") }, nil, false},
		{"another key", func() { put("a", "a-2") }, []string{"a"}, false},
		{"another host", func() { put("a.hosts", "two.example") }, []string{"a"}, false},
		{"a comment on hosts", func() { put("a.hosts", "two.example # theirs") }, nil, false},
		{"an unusable one", func() { put("b", "b\x01") }, nil, true},
		{"another key beside an unusable one", func() { put("a", "a-3") }, []string{"a"}, true},
		{"nothing beside an unusable one", func() {}, nil, false},
		{"the unusable one as it was before", func() { put("b", "b-1") }, nil, false},
		{"one that cannot be read", func() { mkdir("b.hosts") }, nil, false}, // no file, and so no change that is seen
		{"another key beside one that cannot be read", func() { put("a", "a-4") }, []string{"a"}, true},
		{"nothing beside one that cannot be read", func() {}, nil, true},
		{"nothing, again", func() {}, nil, true},
		{"one that can be read again", func() { remove("b.hosts") }, nil, false},
		{"one that is gone", func() { remove("b") }, []string{"b"}, false},
		{"an empty one", func() { put("a", "") }, []string{"a"}, false},
	} {
		step.do()
		changed, err := s.Reload()
		if !slices.Equal(changed, step.want) || (err != nil) != step.failed {
			t.Errorf("%s: %q have changed, want %q; %v", step.name, changed, step.want, err)
		}
	}
	if changed, err := New("").Reload(); len(changed) != 0 || err != nil {
		t.Errorf("without a directory: %q, %v", changed, err)
	}
}
