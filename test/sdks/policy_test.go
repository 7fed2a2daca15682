// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"fmt"
	"net/http"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// The waits of the matrix: the policy honours what is at most its ceiling, and declines more. Every SDK that retries
// by itself would still take the longer one for worth waiting.
const (
	honouredSeconds = 1
	declinedSeconds = 2
	// scarce is a model of which the policy lets one call an hour pass: what exceeds it the gateway refuses itself.
	scarce = "scarce"
	// attempts are the gateway's for a provider that states no wait, the policy's default.
	attempts = 3
)

// policyYAML is a policy of one route to the simulated provider.
func policyYAML(route string) func(url string) string {
	return func(url string) string {
		return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: %[1]s
    baseURL: %[2]s/_p/%[1]s
    limits:
    - {name: plenty, budget: Requests, amount: 60k, per: Minute}
    - {name: scarce, budget: Requests, amount: 1, per: Hour, models: [%[3]s]}
    throttle: {honourCeiling: %[4]ds}
    unguided: {base: 100ms, cap: 200ms}
`, route, url, scarce, honouredSeconds)
	}
}

// throttle is a refusal by the provider that says to wait so long, in its own way, or not how long.
func (s sdk) throttle(seconds int, count int, key string) fakeprovider.Fault {
	f := fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, Count: count, Key: fakeprovider.KeyHash(key)}
	switch {
	case s.unguided:
	case s.dialect == fakeprovider.Gemini:
		// Its time is in the body alone.
		f.Kind, f.Status = fakeprovider.FaultRespond, http.StatusTooManyRequests
		f.Headers = map[string][]string{"Content-Type": {"application/json; charset=UTF-8"}}
		f.Body = fmt.Sprintf(`{"error":{"code":429,"message":"Quota exceeded for metric: generate_content_free_tier_requests, limit: 10\nPlease retry in %[1]ds.",`+
			`"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":`+
			`"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier",`+
			`"quotaValue":"10"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%[1]ds"}]}}`, seconds)
	default:
		f.RetryAfter = fmt.Sprint(seconds)
	}
	return f
}
