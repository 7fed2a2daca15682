// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

func buildManager(t *testing.T) string {
	t.Helper()
	root, err := controlplane.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "manager")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", out, "./cmd/manager")
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the manager: %v\n%s", err, said)
	}
	return out
}

// Fifty gateways in two namespaces share one account by the manager's binary and a real API server: all are granted, they use
// what they are granted, an edit reaches all, and nothing is written to the API server for each report.
func TestFiftyGatewaysShareAnAccount(t *testing.T) {
	s, err := parse([]string{"--manager", buildManager(t), "--gateways", "50", "--namespaces", "2", "--window", "12s"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, err := startCluster(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	f := newFleet(c, s)
	defer f.stop()
	r, err := measure(t.Context(), c, f, 50)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.manager.tail())
	}
	t.Logf("\n%s%s", header(), r)
	// How much they use of it and how soon they are answered is what make scale measures: here other tests use the machine.
	if r.spent <= 0 {
		t.Error("they used nothing of what the account allows")
	}
	if r.grants < 50 {
		t.Errorf("%d draws were answered", r.grants)
	}
	if r.edited <= 0 {
		t.Errorf("an edit was acknowledged after %v", r.edited)
	}
	// Three objects, each at most every 30 seconds but for conditions, and a state once a second. A busy machine sees more of their
	// changes in twelve seconds; a write for each report would be 50 a second.
	if r.statuses > 3*3600 || r.states > 3*3600 {
		t.Errorf("%.0f status writes and %.0f state writes an hour", r.statuses, r.states)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{"--gateways", "many"},
		{"--gateways", "0"},
		{"--gateways", "100,"},
		{"--gateways", "100000"},
		{"--namespaces", "0"},
		{"--window", "0s"},
		{"--offered", "0"},
		{"--unknown"},
	} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if s, err := parse([]string{"--gateways", "1, 20"}, io.Discard); err != nil || len(s.gateways) != 2 || s.gateways[1] != 20 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestMetricsAreRead(t *testing.T) {
	got, err := parseMetrics(bytes.NewBufferString("# HELP a b\na 1\nb{x=\"1\",y=\"} \"} 2e3\nc{} 4\nrubbish\n"))
	if err != nil || got["a"] != 1 || got["c{"] != 4 || len(got) < 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestARowHasEveryColumn(t *testing.T) {
	if want, got := len(columns), strings.Count(row{rate: 1}.String(), "|")-1; got != want {
		t.Errorf("%d cells, %d columns", got, want)
	}
}
