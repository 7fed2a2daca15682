// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package crd

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// node is as much of an OpenAPI schema as is looked at.
type node struct {
	Type                 string           `json:"type"`
	Format               string           `json:"format"`
	Enum                 []string         `json:"enum"`
	IntOrString          bool             `json:"x-kubernetes-int-or-string"`
	MaxItems             *int64           `json:"maxItems"`
	MaxLength            *int64           `json:"maxLength"`
	MaxProperties        *int64           `json:"maxProperties"`
	Items                *node            `json:"items"`
	Properties           map[string]*node `json:"properties"`
	AdditionalProperties *node            `json:"additionalProperties"`
	Rules                []rule           `json:"x-kubernetes-validations"`
}

type rule struct{ Rule string }

// schemas reads the root schema of every version of every CRD.
func schemas(t *testing.T) map[string]*node {
	t.Helper()
	files, err := filepath.Glob("bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRD: %v", err)
	}
	out := map[string]*node{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema *node }
				}
			}
		}
		if err := yaml.Unmarshal(content, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			out[filepath.Base(file)+" "+v.Name] = v.Schema.OpenAPIV3Schema
		}
	}
	return out
}

// walk visits the schema and all below it that Headgate declares; the API server's own fields are none of ours.
func (n *node) walk(path string, visit func(path string, n *node)) {
	visit(path, n)
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		if path == "" && name != "spec" && name != "status" {
			continue
		}
		n.Properties[name].walk(path+"."+name, visit)
	}
	if n.Items != nil {
		n.Items.walk(path+"[]", visit)
	}
	if n.AdditionalProperties != nil {
		n.AdditionalProperties.walk(path+"[*]", visit)
	}
}

// TestE6EverythingIsBounded: the API server estimates what a rule costs from the bounds, and refuses a CRD in which one
// may cost too much; what it lets through today another release may not.
//
// Fault E6: A CRD with unbounded lists or strings was refused by another release of the API server for what its rules
// might cost.
// Headgate: Every list, string and map of the schemas is bounded, and rules use what the oldest supported server knows.
func TestE6EverythingIsBounded(t *testing.T) {
	for name, root := range schemas(t) {
		seen, byRule := 0, map[string]bool{}
		root.walk("", func(path string, n *node) {
			seen++
			// Markers cannot bound the values of a map of strings: a rule on the map does.
			byRule[path+"[*]"] = slices.ContainsFunc(n.Rules, func(r rule) bool { return strings.Contains(r.Rule, "self[k].size() <= ") })
			unbounded := ""
			switch {
			case byRule[path]:
			case n.IntOrString && n.MaxLength == nil:
				unbounded = "maxLength of its string form"
			case n.Type == "string" && n.MaxLength == nil && len(n.Enum) == 0 && n.Format != "date-time":
				unbounded = "maxLength"
			case n.Type == "array" && n.MaxItems == nil:
				unbounded = "maxItems"
			case n.AdditionalProperties != nil && n.MaxProperties == nil:
				unbounded = "maxProperties"
			}
			if unbounded != "" {
				t.Errorf("%s: %s has no %s", name, path, unbounded)
			}
		})
		if seen < 20 {
			t.Errorf("%s: only %d fields were looked at", name, seen)
		}
	}
}

// oldest are the functions and macros of CEL that the oldest API server knows that Headgate supports, as far as its rules
// use them.
var oldest = []string{
	"all", "compareTo", "contains", "duration", "exists", "filter", "has", "isInteger", "isQuantity", "map", "matches", "quantity", "size",
	"startsWith", "sum", "type",
}

var called = regexp.MustCompile(`([A-Za-z_]+)\(`)

// TestE6RulesAreThoseOfTheOldestServer: a function that came later would keep the CRD from being installed.
func TestE6RulesAreThoseOfTheOldestServer(t *testing.T) {
	for name, root := range schemas(t) {
		root.walk("", func(path string, n *node) {
			for _, r := range n.Rules {
				for _, m := range called.FindAllStringSubmatch(stringless(r.Rule), -1) {
					if !slices.Contains(oldest, m[1]) {
						t.Errorf("%s: %s: %s is not known to be a function of Kubernetes 1.31", name, path, m[1])
					}
				}
			}
		})
	}
}

var literal = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// stringless is a rule without its literals, whose text is no code.
func stringless(rule string) string { return strings.Join(literal.Split(rule, -1), "''") }
