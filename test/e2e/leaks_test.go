// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// Whatever becomes of a call, neither its key nor its prompt is in any log, status, Event or ConfigMap. Every test's
// namespace is searched when it ends; here all kinds of outcome are made first.
func TestKeysAndPromptsAreNeverShown(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	app := n.startApp(t, "app")
	n.eventually(t, time.Minute, "the pod is governed", pods(1, 1, 1, 1))
	mustCall(t, app, load.Call{InputTokens: 1_000})
	mustCall(t, app, load.Call{InputTokens: 1_000, Stream: true})
	if out, err := call(t.Context(), app, load.Call{InputTokens: 900_000}); err != nil || out.Failure != load.Declined {
		t.Errorf("a call that is too large: %+v, %v", out, err)
	}
	if err := n.failOnce(t, 401); err != nil {
		t.Fatal(err)
	}
	if out, err := call(t.Context(), app, load.Call{InputTokens: 1_000}); err != nil || out.OK {
		t.Errorf("a call that the provider refuses: %+v, %v", out, err)
	}
	n.eventually(t, time.Minute, "figures", sends(3))
	n.mustFind(t)
	n.mustKeepSecrets(t.Context(), t)
}

// mustFind fails unless what is searched for secrets has in it what it must.
func (n tenant) mustFind(t *testing.T) {
	t.Helper()
	said := n.everything(t.Context())
	for where, text := range map[string]string{
		"log of " + n.name + "/app/" + gatewayContainer: "plan in force",
		"log of " + systemNamespace + "/":               "Starting workers",
		"PodList":                                       placeholder,
		"EventList":                                     "Scheduled",
		"RateLimitPolicyList":                           "sendsPerCall",
		"ConfigMapList":                                 "credentialKey",
	} {
		found := false
		for place, content := range said {
			found = found || strings.Contains(place, where) && strings.Contains(content, text)
		}
		if !found {
			t.Errorf("no %q in %s", text, where)
		}
	}
}

// failOnce has the provider answer the tenant's next call with a status.
func (n tenant) failOnce(t *testing.T, status int) error {
	t.Helper()
	return post(t.Context(), providerAdmin(t)+"/_fake/faults", fakeprovider.Fault{
		Kind: fakeprovider.FaultRespond, Status: status, Key: fakeprovider.KeyHash(n.key),
	}, nil)
}
