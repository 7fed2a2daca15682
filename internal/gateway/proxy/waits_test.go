// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

func TestCallPassesAndIsCharged(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	p := onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 400_000)))
	simulate(t, provider, p, func(w *world) {
		a := w.post("/anthropic/v1/messages", message(100), "x-api-key", "sk-1", "anthropic-version", "2023-06-01")
		if a.err != nil || a.status != http.StatusOK || !strings.Contains(a.body, `"usage"`) {
			t.Fatalf("answer %d %q %v", a.status, a.body, a.err)
		}
		if got := w.figures("anthropic").level("input-tokens"); got > 399_999 || got < 399_000 {
			t.Errorf("the level is %v", got)
		}
		w.atRest()
	})
}

func TestLargeCallOnEmptyBucketGoesAfterNineSecondsAndNotBefore(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	p := onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 400_000)))
	simulate(t, provider, p, func(w *world) {
		provider.SetLevel(fakeprovider.InputTokens, 0)
		a := w.post("/anthropic/v1/messages", message(60_000), "x-fake-input-tokens", "60000", "x-api-key", "sk-1", "anthropic-version", "2023-06-01")
		t.Log(a.status, a.took, a.header, len(a.body))
		if a.status != http.StatusOK || a.took < 9*time.Second || a.took > 12*time.Second {
			t.Errorf("answer %d after %s", a.status, a.took)
		}
		w.atRest()
	})
}
