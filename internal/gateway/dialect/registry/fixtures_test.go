// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"encoding/json"
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/testing/fixtures"
)

// fixture is one group of sections of a fixtures file, with its dialect and with what is demanded.
type fixture struct {
	fixtures.Fixture
	d    dialect.Dialect
	want wanted
}

// fixtureFiles reads every fixtures file, by dialect.
func fixtureFiles(t *testing.T) map[string][]fixture {
	t.Helper()
	files, err := fixtures.Read("testdata")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]fixture{}
	for route, file := range files {
		found, _ := facts.ByRoute(route)
		d := ByRoute(route)
		if d == nil {
			t.Errorf("testdata/%s.txtar: no dialect has that route", route)
			continue
		}
		for _, f := range file {
			g := fixture{Fixture: f, d: d}
			strict := json.NewDecoder(bytes.NewReader(f.Want))
			strict.DisallowUnknownFields()
			if err := strict.Decode(&g.want); err != nil {
				t.Fatalf("testdata/%s.txtar %s/want.json: %v", route, f.Name, err)
			}
			out[found.Name] = append(out[found.Name], g)
		}
	}
	return out
}
