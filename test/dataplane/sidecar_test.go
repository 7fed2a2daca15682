// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// TestD13AndE8SidecarServesTheMountedPlanAndKeepsTheLastGood runs the gateway as injection does, with a plan
// directory and a labels file, without a coordinator: on its safe share.
func TestD13AndE8SidecarServesTheMountedPlanAndKeepsTheLastGood(t *testing.T) {
	dir := t.TempDir()
	planFile, labels := filepath.Join(dir, "plan.json"), filepath.Join(dir, "labels")
	write := func(path string, data []byte) { writeFile(t, path, data) }
	write(labels, []byte("app=\"support\"\n"))
	g := &gateway{t: t, Gateway: dataplane.Run(t, binary, "--plan", dir, "--labels", labels, "--state", dir, "--namespace", "team-support")}
	routes := func(want string) func() bool {
		return func() bool { _, body := g.Get(g.URL + "/nobody"); return strings.Contains(body, want) }
	}
	// The ConfigMap comes later than the pod: built-in routes serve meanwhile.
	if !routes("/anthropic, ")() {
		t.Error("there are no built-in routes before the first plan")
	}
	write(planFile, mounted(t, 1, "first"))
	g.Eventually("the plan", routes("/first"))
	write(planFile, mounted(t, 2, "second")[:50])
	g.Eventually("the error", func() bool { return strings.Contains(g.Log.String(), "plan refused") })
	if !routes("/first")() {
		t.Error("a half-written plan took the last good one away")
	}
	write(planFile, mounted(t, 3, "third"))
	g.Eventually("the next plan", routes("/third"))
	// Who prunes the ConfigMap, or removes Headgate, takes nothing from pods that run.
	if err := os.Remove(planFile); err != nil {
		t.Fatal(err)
	}
	served := func(want bool) func() bool {
		return func() bool {
			status, _ := g.Get(g.URL + "/third/v1/models")
			return want == (status != http.StatusNotFound)
		}
	}
	write(labels, []byte("app=\"other\"\n"))
	g.Eventually("the labels' effect", served(false))
	write(labels, []byte("app=\"support\"\n"))
	g.Eventually("the plan again, whose file is gone", served(true))
}

// writeFile replaces a file at once, as the kubelet does.
func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// mounted is a plan whose policy selects app=support.
func mounted(t *testing.T, revision int64, route string) []byte {
	t.Helper()
	data, err := plan.Encode(plan.Plan{
		Version: plan.Version, Revision: revision, Namespace: "team-support",
		Policies: []plan.Policy{{
			Name: "support", Generation: 1, MaxGateways: 4,
			Selector: []plan.Term{{Key: "app", Operator: plan.In, Values: []string{"support"}}},
			Routes: []plan.Route{{
				Name: route, Dialect: "OpenAI", BaseURL: "https://127.0.0.1:1",
				Limits:   []plan.Limit{{Name: "tokens", Budget: plan.Tokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000}},
				Deadline: plan.Deadline{DefaultMillis: time.Minute.Milliseconds()},
				Throttle: plan.Throttle{HonourCeilingMillis: 30_000, JitterPercent: 25, MaxAttempts: 3},
				Unguided: plan.Backoff{BaseMillis: 500, CapMillis: 30_000},
				Overload: plan.Overload{BaseMillis: 1000, CapMillis: 30_000, MaxAttempts: 4},
				Lanes:    []plan.Lane{{Name: plan.DefaultLane, SharePermille: 1000, MaxDepth: 256, MaxWaitMillis: 50_000}},
			}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}
