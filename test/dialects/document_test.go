// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialects

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/testing/fixtures"
)

var update = flag.Bool("update", false, "write the tables of docs/dialects.md")

const path = "../../docs/dialects.md"

// block is what stands between two marks of a name, which are comments.
var block = regexp.MustCompile(`(?s)<!-- generated: ([a-z0-9]+) -->\n.*?<!-- end -->`)

func document(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestDialectsAreDocumented: every table is what the code says now, and every dialect has its part.
func TestDialectsAreDocumented(t *testing.T) {
	before := document(t)
	files, err := fixtures.Read("../../internal/gateway/dialect/registry/testdata")
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{"overview": overview(), "sdks": sdks()}
	for _, f := range facts.All() {
		if registry.ByName(f.Name) == nil {
			t.Errorf("%s is not registered", f.Name)
			continue
		}
		tables[f.Route] = part(f, files[f.Route])
	}
	seen := map[string]bool{}
	after := block.ReplaceAllStringFunc(before, func(old string) string {
		name := block.FindStringSubmatch(old)[1]
		table, ok := tables[name]
		if !ok || seen[name] {
			t.Errorf("block %q: unknown, or there twice", name)
			return old
		}
		seen[name] = true
		return "<!-- generated: " + name + " -->\n" + table + "<!-- end -->"
	})
	for name := range tables {
		if !seen[name] {
			t.Errorf("docs/dialects.md has no block %q", name)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("docs/dialects.md is stale: run hack/generate-docs (-have +want)\n%s", diff)
	}
}

var policies = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestPoliciesOfTheDocument: each example is one that the API would take, and for each dialect there is one.
func TestPoliciesOfTheDocument(t *testing.T) {
	text := document(t)
	named := map[string]bool{}
	for _, found := range policies.FindAllStringSubmatch(text, -1) {
		var out bytes.Buffer
		if err := explain.Policies(&out, []byte(found[1])); err != nil {
			t.Errorf("%v:\n%s\n%s", err, found[1], out.String())
		}
		if strings.Contains(out.String(), "Warning:") {
			t.Errorf("an example that is warned of:\n%s\n%s", found[1], out.String())
		}
		for _, f := range facts.All() {
			if strings.Contains(out.String(), ": "+f.Name+" at ") {
				named[f.Name] = true
			}
		}
	}
	for _, f := range facts.All() {
		if !named[f.Name] {
			t.Errorf("%s has no example", f.Name)
		}
	}
}
