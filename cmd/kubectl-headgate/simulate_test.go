// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

const simulatedPolicy = `
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: small}
spec:
  providers:
  - name: anthropic
    limits:
    - {name: rpm, budget: Requests, amount: 60, per: Minute}
`

const simulatedWorkload = `
kind: Workload
duration: 1m
initialLevel: 0%
provider: {anthropic: {limits: [{budget: Requests, amount: 60, per: Minute}]}}
streams: [{name: chat, provider: anthropic, arrivals: {every: 500ms}, inputTokens: 10, callTime: 100ms, deadline: 5s}]
baseline: [none]
expect: {"provider.anthropic.rejected429": "== 0"}
`

func TestSimulate(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	policy, workload := file("policy.yaml", simulatedPolicy), file("quiet.yaml", simulatedWorkload)
	failing := file("failing.yaml", strings.Replace(simulatedWorkload, "== 0", "> 0", 1))
	bad := file("bad.yaml", strings.Replace(simulatedWorkload, "inputTokens: 10", "inputTokens: {lognormal: {median: 1, sigma: -1}}", 1))
	unknown := file("unknown.yaml", strings.Replace(simulatedWorkload, "rejected429", "refused", 1))
	for name, c := range map[string]struct {
		in        string
		args      []string
		code      int
		out, errs string
	}{
		"text":                  {"", []string{"-p", policy, "-w", workload}, 0, "quiet under policy small: 1m of simulated time, seed 1.", ""},
		"the policy from stdin": {simulatedPolicy, []string{"--policy", "-", "--workload", workload, "--seed", "9"}, 0, "seed 9.", ""},
		"json":                  {"", []string{"-p", policy, "-w", workload, "-o", "json"}, 0, `"rejected429": 0`, ""},
		"html":                  {"", []string{"-p", policy, "-w", workload, "-o", "html"}, 0, "<!doctype html>", ""},
		"not as expected":       {"", []string{"-p", policy, "-w", failing}, 1, "FAILED", "expected provider.anthropic.rejected429 > 0, got 0"},
		"also where JSON is":    {"", []string{"-p", policy, "-w", failing, "-o", "json"}, 1, `"ok": false`, "expected provider.anthropic.rejected429 > 0, got 0"},
		"a bad workload":        {"", []string{"-p", policy, "-w", bad}, 2, "", "streams[0].inputTokens.lognormal.sigma: must be between 0 and 5, not -1"},
		"an unknown path":       {"", []string{"-p", policy, "-w", unknown}, 2, "", `expect[provider.anthropic.refused]: provider.anthropic has no "refused"`},
		"a bad policy":          {strings.Replace(simulatedPolicy, "amount: 60", "amount: -1", 1), []string{"-p", "-", "-w", workload}, 2, "", "spec.providers[0].limits[0].amount"},
		"no such file":          {"", []string{"-p", policy, "-w", "none.yaml"}, 2, "", "none.yaml: no such file"},
		"no policy":             {"", []string{"-w", workload}, 2, "", "--policy is required"},
		"no workload":           {"", []string{"-p", policy}, 2, "", "--workload is required"},
		"both from stdin":       {"", []string{"-p", "-", "-w", "-"}, 2, "", "only one of the files"},
		"an argument":           {"", []string{"-p", policy, "-w", workload, "more"}, 2, "", `unknown argument "more"`},
		"an unknown format":     {"", []string{"-p", policy, "-w", workload, "-o", "yaml"}, 2, "", "want text, json or html"},
		"a seed of words":       {"", []string{"-p", policy, "-w", workload, "--seed", "x"}, 2, "", "seed"},
		"help":                  {"", []string{"--help"}, 0, "docs/simulate.md", ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := run(c.in, append([]string{"simulate"}, c.args...)...)
			if code != c.code || !strings.Contains(strings.ToLower(out), strings.ToLower(c.out)) || !strings.Contains(errs, c.errs) || c.errs == "" && errs != "" {
				t.Errorf("status %d, want %d\nout: %.2000s\nerrors: %s", code, c.code, out, errs)
			}
		})
	}
	_, out, _ := run("", "simulate", "-p", policy, "-w", workload, "-o", "json")
	var r result.Result
	strict := json.NewDecoder(strings.NewReader(out))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&r); err != nil || r.Streams["chat"].Offered != 120 || r.Streams["chat"].Succeeded < 55 || r.Baselines["none"] == nil {
		t.Errorf("%v: %+v", err, r.Streams["chat"])
	}
}
