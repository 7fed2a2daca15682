// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	leaveNoAccounts(t)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			stored := applySample(t, path)
			if len(stored.Policies)+len(stored.Accounts) == 0 {
				t.Fatal("it holds nothing")
			}
			for i := range stored.Accounts {
				if errs, warnings := policy.ValidateAccount(&stored.Accounts[i]), policy.AccountWarnings(&stored.Accounts[i]); len(errs)+len(warnings) > 0 {
					t.Errorf("account %s: errors %v, warnings %q", stored.Accounts[i].Name, errs, warnings)
				}
			}
			for i := range stored.Policies {
				checkSample(t, stored, i, wantWarnings[name])
				checkFileMode(t, path, stored)
			}
		})
	}
}

// leaveNoAccounts removes accounts when the test ends: they are the cluster's, and the next test applies them anew.
func leaveNoAccounts(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if err := env.Client.DeleteAllOf(context.Background(), &v1alpha1.ProviderAccount{}); err != nil {
			t.Error(err)
		}
	})
}

// applySample applies a sample with kubectl, as a reader does, and returns what the API server keeps.
func applySample(t *testing.T, path string) policy.Objects {
	t.Helper()
	namespace := env.Namespace(t, nil)
	var stored policy.Objects
	for applied := range strings.Lines(env.RunKubectl(t, "apply", "-n", namespace, "-o", "name", "-f", path)) {
		kind, name, _ := strings.Cut(strings.TrimSpace(applied), "/")
		switch kind {
		case "ratelimitpolicy.headgate.dev":
			stored.Policies = append(stored.Policies, get[v1alpha1.RateLimitPolicy](t, namespace, name))
		case "provideraccount.headgate.dev":
			stored.Accounts = append(stored.Accounts, get[v1alpha1.ProviderAccount](t, "", name))
		default:
			t.Fatalf("kubectl applied %q", applied)
		}
	}
	return stored
}

func get[T any, P interface {
	*T
	client.Object
}](t *testing.T, namespace, name string) T {
	t.Helper()
	var object T
	if err := env.Client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, P(&object)); err != nil {
		t.Fatal(err)
	}
	return object
}

func accountsOf(t *testing.T, objects policy.Objects) map[string]policy.Account {
	t.Helper()
	accounts, err := objects.AccountsOf("team")
	if err != nil {
		t.Fatal(err)
	}
	return accounts
}

func checkSample(t *testing.T, objects policy.Objects, i int, wantWarning string) {
	t.Helper()
	stored := objects.Policies[i]
	result, outcomes := policy.Compile([]v1alpha1.RateLimitPolicy{stored}, policy.Inputs{Namespace: "team", Accounts: accountsOf(t, objects), Now: time.Now()})
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
func checkFileMode(t *testing.T, path string, stored policy.Objects) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := policy.Read(content)
	if err != nil {
		t.Fatalf("the gateway does not read it: %v", err)
	}
	fromFile, _ := policy.Compile(read.Policies, policy.Inputs{Namespace: "team", Accounts: accountsOf(t, read)})
	for i := range stored.Policies {
		stored.Policies[i].UID, stored.Policies[i].Generation = "", 0
	}
	fromServer, _ := policy.Compile(stored.Policies, policy.Inputs{Namespace: "team", Accounts: accountsOf(t, stored)})
	if got, want := len(fromFile.Policies), len(stored.Policies); got != want {
		t.Fatalf("the file holds %d policies, want %d", got, want)
	}
	if a, b := routes(t, fromFile), routes(t, fromServer); a != b {
		t.Errorf("read from the file it means\n%s\nread from the API server\n%s", a, b)
	}
}
