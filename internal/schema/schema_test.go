// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/openapi"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// shipped is the OpenAPI document that the shipped CRDs become, as far as it is looked at.
func shipped(t *testing.T) map[string]any {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRD: %v", err)
	}
	schemas := map[string]any{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		if err := yaml.Unmarshal(content, &crd); err != nil {
			t.Fatal(err)
		}
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		root["x-kubernetes-group-version-kind"] = []any{
			map[string]any{"group": v1alpha1.GroupVersion.Group, "version": v1alpha1.GroupVersion.Version, "kind": crd.Spec.Names.Kind},
		}
		schemas[crd.Spec.Names.Kind] = root
	}
	return schemas
}

func document(t *testing.T, schemas map[string]any) []byte {
	t.Helper()
	out, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": schemas}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// each visits every property of the spec, with the map it is in.
func each(n map[string]any, path string, visit func(properties map[string]any, name, path string)) {
	if properties, ok := n["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			below := path + "." + name
			if path == "" {
				if name != "spec" {
					continue
				}
				below = name
			}
			visit(properties, name, below)
			if child, ok := properties[name].(map[string]any); ok {
				each(child, below, visit)
			}
		}
	}
	for key, suffix := range map[string]string{"items": "[]", "additionalProperties": "[*]"} {
		if child, ok := n[key].(map[string]any); ok {
			each(child, path+suffix, visit)
		}
	}
}

// TestE7EachFieldThatIsDroppedIsFound takes every field in turn out of the shipped CRDs: an older CRD is one that lacks some.
func TestE7EachFieldThatIsDroppedIsFound(t *testing.T) {
	schemas := shipped(t)
	if lost, err := compare(document(t, schemas)); err != nil || len(lost) > 0 {
		t.Fatalf("the shipped CRDs drop %v, %v", lost, err)
	}
	fields := 0
	for name, root := range schemas {
		each(root.(map[string]any), "", func(properties map[string]any, field, path string) {
			fields++
			kept := properties[field]
			delete(properties, field)
			lost, err := compare(document(t, map[string]any{name: root}))
			properties[field] = kept
			lost = slices.DeleteFunc(lost, func(s string) bool { return s != name && !strings.HasPrefix(s, name+" ") })
			if want := name + " " + path; err != nil || !slices.Equal(lost, []string{want}) {
				t.Errorf("without %s: %v, %v", want, lost, err)
			}
		})
	}
	if fields < 80 {
		t.Errorf("only %d fields were tried", fields)
	}
	delete(schemas, "RateLimitPolicy")
	if lost, err := compare(document(t, schemas)); err != nil || !slices.Equal(lost, []string{"RateLimitPolicy"}) {
		t.Errorf("without the kind: %v, %v", lost, err)
	}
}

// fake serves what it is told to and counts.
type fake struct {
	document []byte
	err      error
	asked    int
}

func (f *fake) Paths() (map[string]openapi.GroupVersion, error) {
	f.asked++
	return map[string]openapi.GroupVersion{"apis/headgate.dev/v1alpha1": f}, f.err
}

func (f *fake) Schema(string) ([]byte, error) { return f.document, nil }

func (f *fake) ServerRelativeURL() string { return "" }

func TestE7AnUpgradeOfTheCRDIsSeenWithoutARestart(t *testing.T) {
	schemas := shipped(t)
	root := schemas["RateLimitPolicy"].(map[string]any)
	spec := root["properties"].(map[string]any)["spec"].(map[string]any)["properties"].(map[string]any)
	kept := spec["mode"]
	delete(spec, "mode")
	f := &fake{document: document(t, schemas), err: errors.New("unreachable")}
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	s := New(f, func() time.Time { return now })
	if lost, err := s.Missing(); err == nil || lost != nil {
		t.Errorf("while the server does not answer: %v, %v", lost, err)
	}
	f.err = nil
	for range 3 {
		if lost, err := s.Missing(); err != nil || !slices.Equal(lost, []string{"RateLimitPolicy spec.mode"}) || f.asked != 2 {
			t.Errorf("with the old CRD: %v, %v, asked %d times", lost, err, f.asked)
		}
	}
	spec["mode"] = kept
	f.document = document(t, schemas)
	now = now.Add(askEvery)
	for range 3 {
		if lost, err := s.Missing(); err != nil || len(lost) > 0 || f.asked != 3 {
			t.Errorf("with the new CRD: %v, %v, asked %d times", lost, err, f.asked)
		}
		now = now.Add(lookEvery / 4)
	}
	// A server that does not answer changes nothing, and a CRD that is put back is found out.
	now, f.err = now.Add(lookEvery), errors.New("unreachable")
	if lost, err := s.Missing(); err != nil || len(lost) > 0 || f.asked != 4 {
		t.Errorf("while the server is away: %v, %v, asked %d times", lost, err, f.asked)
	}
	delete(spec, "mode")
	now, f.err, f.document = now.Add(lookEvery), nil, document(t, schemas)
	if lost, err := s.Missing(); err != nil || len(lost) != 1 {
		t.Errorf("with the old CRD again: %v, %v", lost, err)
	}
}
