// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/headgate-dev/headgate/"

// rule says what the packages of a pattern must not link, directly or through others.
type rule struct {
	packages []string
	// forbidden are prefixes of import paths, each with its reason.
	forbidden map[string]string
	// only, if not empty, are the only packages outside the standard library that may be linked.
	only []string
}

var kubernetes = map[string]string{
	"k8s.io/client-go":                  "a sidecar must stay small",
	"sigs.k8s.io/controller-runtime":    "a sidecar must stay small",
	module + "internal/controller":      "halves meet in the plan and the wire only",
	module + "internal/webhook":         "halves meet in the plan and the wire only",
	module + "internal/coordinator":     "halves meet in the plan and the wire only",
	module + "internal/testing":         "test code",
	module + "internal/explain":         "only the kubectl plugin explains",
	"k8s.io/apiextensions-apiserver":    "a sidecar must stay small",
	"github.com/openai/openai-go":       "SDKs are for tests and the demo",
	"github.com/anthropics/anthropic-s": "SDKs are for tests and the demo",
	"google.golang.org/genai":           "SDKs are for tests",
	"github.com/aws/":                   "SDKs are for tests",
}

// stores are what keeps deferred calls.
var stores = map[string]string{
	"go.etcd.io/bbolt":          "only internal/gateway/deferred and cmd/gateway keep anything",
	"github.com/redis/go-redis": "only internal/gateway/deferred and cmd/gateway keep anything",
}

func rules() map[string]rule {
	withoutAPI := map[string]string{module + "api": "the gateway reads plans, not objects", "k8s.io": "the gateway links no Kubernetes code"}
	for prefix, why := range kubernetes {
		withoutAPI[prefix] = why
	}
	return map[string]rule{
		"the gateway binary links no Kubernetes client": {packages: []string{"./cmd/gateway"}, forbidden: kubernetes},
		"gateway packages know no API types":            {packages: []string{"./internal/gateway/..."}, forbidden: withoutAPI},
		"pure packages use the standard library alone": {
			packages: []string{"./internal/plan", "./internal/budget", "./internal/budget/pool", "./internal/dialect", "./internal/sidecar", "./internal/policy/decide"},
			only:     []string{module + "internal/plan", module + "internal/budget", module + "internal/budget/pool", module + "internal/dialect", module + "internal/sidecar", module + "internal/policy/decide"},
		},
		"the ledger is as pure as the pools": {
			packages: []string{"./internal/ledger"},
			only:     []string{module + "internal/ledger", module + "internal/plan", module + "internal/budget", module + "internal/budget/pool", module + "internal/dialect"},
		},
		"the API pulls in no client": {packages: []string{"./api/..."}, forbidden: map[string]string{
			"sigs.k8s.io/controller-runtime": "clients use the types alone", "k8s.io/client-go": "clients use the types alone", module + "internal": "the API holds no logic",
		}},
		"explaining calls nobody": {packages: []string{"./internal/explain"}, forbidden: map[string]string{
			"k8s.io/client-go": "it reads what it is given", "sigs.k8s.io/controller-runtime": "it reads what it is given",
			module + "internal/testing": "test code", module + "internal/controller": "it reads what it is given",
			module + "internal/gateway/proxy": "it decides by the rules, not by running them",
		}},
		"the simulator's referee shares nothing with the engine": {
			packages: []string{"./internal/simulate/referee", "./internal/simulate/world", "./internal/simulate/baseline"},
			forbidden: map[string]string{
				module + "internal/budget": "who judges the engine must not be it", module + "internal/gateway/admission": "who judges the engine must not be it",
				module + "internal/policy": "a plan is compiled before",
			},
		},
		"what a simulation found can be read by anything": {
			packages: []string{"./internal/simulate/result", "./internal/simulate/text", "./internal/simulate/html", "./internal/simulate/clock"},
			only:     []string{module + "internal/simulate/result", module + "internal/simulate/text", module + "internal/simulate/html", module + "internal/simulate/clock"},
		},
		"simulating calls nobody": {packages: []string{"./internal/simulate/..."}, forbidden: map[string]string{
			"k8s.io/client-go": "it plays, and reaches nothing", "sigs.k8s.io/controller-runtime": "it plays, and reaches nothing",
			module + "internal/controller": "it plays, and reaches nothing", module + "internal/webhook": "it plays, and reaches nothing",
			module + "internal/gateway/proxy": "it decides by the rules, not by serving", module + "internal/gateway/upstream": "it plays, and reaches nothing",
			module + "internal/wire": "it sends no messages",
		}},
		"policy can be linked into the gateway": {packages: []string{"./internal/policy"}, forbidden: map[string]string{
			"sigs.k8s.io/controller-runtime": "cmd/gateway links it", "k8s.io/client-go": "cmd/gateway links it",
		}},
		"the controller knows neither webhooks nor the gateway": {packages: []string{"./internal/controller"}, forbidden: map[string]string{
			module + "internal/webhook": "they never import each other", module + "internal/gateway": "halves meet in the plan and the wire only",
		}},
		"webhooks know neither the controller nor the gateway": {packages: []string{"./internal/webhook"}, forbidden: map[string]string{
			module + "internal/controller": "they never import each other", module + "internal/gateway": "halves meet in the plan and the wire only",
		}},
		"stores of deferred calls are linked by the gateway alone": {
			packages: []string{
				"./internal/gateway/proxy/...", "./internal/gateway/admission/...", "./internal/gateway/control", "./internal/gateway/metrics",
				"./internal/gateway/deferred", "./internal/gateway/deferred/callback", "./internal/gateway/deferred/console",
				"./internal/gateway/deferred/store", "./internal/gateway/deferred/ticket", "./internal/simulate/...", "./cmd/kubectl-headgate",
			},
			forbidden: stores,
		},
		"the manager keeps no deferred calls": {packages: []string{"./cmd/manager"}, forbidden: map[string]string{
			"go.etcd.io/bbolt": "only internal/gateway/deferred and cmd/gateway keep anything",
		}},
		"drawing on a store knows no store": {packages: []string{"./internal/budgetstore"}, forbidden: map[string]string{
			"github.com/redis/go-redis": "it is behind an interface", "github.com/prometheus": "package loop counts",
			module + "internal/ledger": "package loop has the ledger", module + "internal/plan": "pools are all that it knows",
		}},
		"the loop of the budget store knows no store": {packages: []string{"./internal/budgetstore/loop"}, forbidden: map[string]string{
			"github.com/redis/go-redis": "it is behind an interface", module + "internal/gateway": "the manager links it",
		}},
		"the budget store in Redis knows neither half": {packages: []string{"./internal/budgetstore/redisstore"}, forbidden: map[string]string{
			module + "internal/gateway": "the manager links it", module + "internal/ledger": "it keeps what it is told",
			module + "internal/testing": "test code",
		}},
		"no binary links the tests of stores": {packages: []string{"./cmd/gateway"}, forbidden: map[string]string{
			module + "internal/gateway/deferred/storetest": "test code",
		}},
		"calls are made without knowing where they are kept": {packages: []string{"./internal/gateway/proxy/...", "./internal/gateway/metrics"}, forbidden: map[string]string{
			module + "internal/gateway/deferred": "it is behind an interface of package proxy's",
		}},
		"each store knows its own client only": {packages: []string{"./internal/gateway/deferred/boltstore"}, forbidden: map[string]string{
			"github.com/redis/go-redis": "that is the other one's", module + "internal/gateway/proxy": "a store keeps what it is given",
			module + "internal/gateway/deferred/storetest": "test code",
		}},
		"each store knows its own client only, in Redis": {packages: []string{"./internal/gateway/deferred/redisstore"}, forbidden: map[string]string{
			"go.etcd.io/bbolt": "that is the other one's", module + "internal/gateway/proxy": "a store keeps what it is given",
			module + "internal/gateway/deferred/storetest": "test code",
		}},
		"the manager links no test code": {packages: []string{"./cmd/manager"}, forbidden: map[string]string{
			module + "internal/testing": "test code", module + "internal/gateway": "halves meet in the plan and the wire only",
		}},
	}
}

func TestImportDirections(t *testing.T) {
	for name, r := range rules() {
		t.Run(name, func(t *testing.T) {
			linked := list(t, r.packages)
			if len(linked) < 2 {
				t.Fatalf("go list found only %v for %v: is a package gone?", linked, r.packages)
			}
			for _, path := range linked {
				if why, bad := forbids(r, path); bad {
					t.Errorf("%v must not link %s: %s", r.packages, path, why)
				}
			}
		})
	}
}

func forbids(r rule, path string) (string, bool) {
	for prefix, why := range r.forbidden {
		if strings.HasPrefix(path, prefix) {
			return why, true
		}
	}
	first, _, _ := strings.Cut(path, "/")
	if len(r.only) > 0 && strings.Contains(first, ".") && !slices.Contains(r.only, path) {
		return "only the standard library", true
	}
	return "", false
}

func list(t *testing.T, packages []string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps"}, packages...)...)
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", packages, err)
	}
	return strings.Fields(string(out))
}
