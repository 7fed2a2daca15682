// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is what a case's file holds.
type golden struct {
	Plan     plan.Plan
	Outcomes []goldenOutcome
}

type goldenOutcome struct {
	Name         string
	Errors       []string   `json:",omitempty"`
	Warnings     []string   `json:",omitempty"`
	Guarantees   []string   `json:",omitempty"`
	Overrides    []Override `json:",omitempty"`
	OverriddenBy string     `json:",omitempty"`
	Account      string     `json:",omitempty"`
}

func testInputs(policies []v1alpha1.RateLimitPolicy) Inputs {
	in := Inputs{Namespace: "team", PodsSeen: map[string]int32{}, Now: time.UnixMilli(1_800_000_000_000)}
	for _, p := range policies {
		if pods, err := strconv.Atoi(p.Annotations["test/pods"]); err == nil {
			in.PodsSeen[p.Name] = int32(pods)
		}
	}
	return in
}

// testAccounts are as the namespace team sees them.
func testAccounts(accounts []v1alpha1.ProviderAccount) map[string]Account {
	out := map[string]Account{}
	for i := range accounts {
		if len(ValidateAccount(&accounts[i])) == 0 {
			out[accounts[i].Name] = AccountFor(&accounts[i], "team", map[string]string{"tier": "gold"})
		}
	}
	return out
}

func TestCompileGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".in.yaml"), func(t *testing.T) {
			got := compileFile(t, path)
			compareGolden(t, strings.TrimSuffix(path, ".in.yaml")+".out.json", got)
		})
	}
}

func compileFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Read(content)
	if err != nil {
		t.Fatal(err)
	}
	policies, in := objects.Policies, testInputs(objects.Policies)
	in.Accounts = testAccounts(objects.Accounts)
	result, outcomes := Compile(policies, in)
	if err := result.Validate(); err != nil {
		t.Errorf("the gateway refuses the plan: %v", err)
	}
	g := golden{Plan: result}
	for i, o := range outcomes {
		one := goldenOutcome{
			Name: o.Name, Warnings: Warnings(&policies[i]), Guarantees: Guarantees(&policies[i]), Overrides: o.Overrides, OverriddenBy: o.OverriddenBy,
			Account: o.Account,
		}
		for _, e := range o.Errors {
			one.Errors = append(one.Errors, e.Error())
		}
		g.Outcomes = append(g.Outcomes, one)
	}
	out, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file: run with -update: %v", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("changed (-want +got); run with -update if that is meant:\n%s", diff)
	}
}
