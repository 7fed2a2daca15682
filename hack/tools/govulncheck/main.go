// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command govulncheck-index makes, of the records of the Go vulnerability database as its module has them, the folder
// that govulncheck reads: index RECORDS FOLDER.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// record is what the index needs of one; the file is copied as it is.
type record struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
	} `json:"affected"`
}

// entry names one vulnerability of a module.
type entry struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
}

// module is one line of the index.
type module struct {
	Path  string  `json:"path"`
	Vulns []entry `json:"vulns"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: index RECORDS FOLDER")
		os.Exit(2)
	}
	if err := index(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func index(records, folder string) error {
	names, err := filepath.Glob(filepath.Join(records, "GO-*.json"))
	if err != nil || len(names) == 0 {
		return errors.Join(err, errors.New("there are no records"))
	}
	for _, dir := range []string{"ID", "index"} {
		if err := os.MkdirAll(filepath.Join(folder, dir), 0o755); err != nil { //nolint:gosec // G301: it is public
			return err
		}
	}
	modules := map[string]*module{}
	var newest time.Time
	for _, name := range names {
		content, err := os.ReadFile(name) //nolint:gosec // G304: the database's own
		if err != nil {
			return err
		}
		var r record
		if err := json.Unmarshal(content, &r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if r.Modified.After(newest) {
			newest = r.Modified
		}
		r.addTo(modules)
		if err := os.WriteFile(filepath.Join(folder, "ID", filepath.Base(name)), content, 0o644); err != nil { //nolint:gosec // G306: it is public
			return err
		}
	}
	return write(folder, modules, newest)
}

func (r *record) addTo(modules map[string]*module) {
	for i := range r.Affected {
		path := r.Affected[i].Package.Name
		m := modules[path]
		if m == nil {
			m = &module{Path: path}
			modules[path] = m
		}
		if e := (entry{r.ID, r.Modified}); !slices.Contains(m.Vulns, e) {
			m.Vulns = append(m.Vulns, e)
		}
	}
}

func write(folder string, modules map[string]*module, newest time.Time) error {
	var list []*module
	for _, m := range modules {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	for name, doc := range map[string]any{
		"db.json": map[string]time.Time{"modified": newest}, "modules.json": list,
	} {
		content, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, "index", name), content, 0o644); err != nil { //nolint:gosec // G306: it is public
			return err
		}
	}
	return nil
}
