// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// wantWarnings are the warnings a sample is there to show.
var wantWarnings = map[string]string{"11-stop": "lets no call pass"}

func TestEverySampleIsAcceptedAndCompiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(env.Root, "config", "samples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			stored := applySample(t, path)
			checkSample(t, stored, wantWarnings[name])
			checkFileMode(t, path, stored)
		})
	}
}

// applySample applies a sample with kubectl, as a reader does, and returns what the API server keeps.
func applySample(t *testing.T, path string) v1alpha1.RateLimitPolicy {
	t.Helper()
	namespace := env.Namespace(t, nil)
	out := env.RunKubectl(t, "apply", "-n", namespace, "-o", "name", "-f", path)
	_, name, found := strings.Cut(strings.TrimSpace(out), "/")
	if !found {
		t.Fatalf("kubectl apply says %q, want one object", out)
	}
	var stored v1alpha1.RateLimitPolicy
	if err := env.Client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, &stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

func checkSample(t *testing.T, stored v1alpha1.RateLimitPolicy, wantWarning string) {
	t.Helper()
	result, outcomes := policy.Compile([]v1alpha1.RateLimitPolicy{stored}, policy.Inputs{Namespace: "team", Now: time.Now()})
	if len(outcomes[0].Errors) > 0 {
		t.Fatalf("it does not compile: %v", outcomes[0].Errors)
	}
	if err := result.Validate(); err != nil {
		t.Errorf("a gateway refuses the plan: %v", err)
	}
	if len(result.Policies) != 1 {
		t.Errorf("the plan holds %d policies, want 1", len(result.Policies))
	}
	warnings := strings.Join(policy.Warnings(&stored), "\n")
	if (warnings == "") != (wantWarning == "") || !strings.Contains(warnings, wantWarning) {
		t.Errorf("warnings %q, want %q", warnings, wantWarning)
	}
}

// checkFileMode reads the sample as the gateway does on a laptop; it must mean the same.
func checkFileMode(t *testing.T, path string, stored v1alpha1.RateLimitPolicy) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := policy.Decode(content)
	if err != nil {
		t.Fatalf("the gateway does not read it: %v", err)
	}
	fromFile, _ := policy.Compile(read, policy.Inputs{Namespace: "team"})
	stored.UID, stored.Generation = "", 0
	fromServer, _ := policy.Compile([]v1alpha1.RateLimitPolicy{stored}, policy.Inputs{Namespace: "team"})
	if got, want := len(fromFile.Policies), 1; got != want {
		t.Fatalf("the file holds %d policies, want %d", got, want)
	}
	if a, b := routes(t, fromFile), routes(t, fromServer); a != b {
		t.Errorf("read from the file it means\n%s\nread from the API server\n%s", a, b)
	}
}
