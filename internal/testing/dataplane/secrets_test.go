// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// TestSecretsAreFoundWhereverTheyAreShown: a search that finds nothing would let every leak pass.
func TestSecretsAreFoundWhereverTheyAreShown(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			_, _ = w.Write([]byte(`calls{model="` + canary.Prompt("x") + `"} 1`))
		}
	}))
	defer page.Close()
	for name, tc := range map[string]struct {
		admin, log, args, kept string
		finds                  bool
	}{
		"a page":              {admin: page.URL, finds: true},
		"a log":               {log: `{"msg":"call","query":"key=` + canary.Key("app") + `"}`, finds: true},
		"a log of a prompt":   {log: canary.Prompt("hello"), finds: true},
		"an argument":         {args: canary.Key("store"), finds: true},
		"a kept key":          {kept: "x" + canary.Key("app"), finds: true},
		"a kept prompt alone": {kept: canary.Prompt("hello")},
		"nothing":             {log: "call of anthropic ended"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &Gateway{Log: &Log{}, Admin: tc.admin, Cmd: exec.Command("gateway", tc.args), State: t.TempDir()}
			_, _ = g.Log.Write([]byte(tc.log))
			if err := os.WriteFile(filepath.Join(g.State, "kept"), []byte(tc.kept), 0o600); err != nil {
				t.Fatal(err)
			}
			found := strings.Join(append(g.shown(), g.written()...), "\n")
			if (found != "") != tc.finds {
				t.Errorf("found %q", found)
			}
		})
	}
}
