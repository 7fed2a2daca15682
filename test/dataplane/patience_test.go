// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/policy"
)

// TestA4AndB14DefaultsEndWaitsBeforeClientsGiveUp: what a policy has that says nothing of waits, in every lane. Many
// clients and load balancers wait for a minute.
func TestA4AndB14DefaultsEndWaitsBeforeClientsGiveUp(t *testing.T) {
	const clients = time.Minute
	const more = "    lanes: [{name: bulk, match: {minInputTokens: 20k}}, {name: chat, priority: 100}]"
	policies, err := policy.Decode([]byte(policyYAML("https://provider", more)))
	if err != nil {
		t.Fatal(err)
	}
	got, outcomes := policy.Compile(policies, policy.Inputs{Namespace: "team-support", Now: time.Unix(1_800_000_000, 0)})
	if len(outcomes) != 1 || !outcomes[0].InPlan() || len(got.Policies[0].Routes) != 2 {
		t.Fatalf("%+v", outcomes)
	}
	for _, r := range got.Policies[0].Routes {
		if d := millis(r.Deadline.DefaultMillis); d <= 0 || d > clients {
			t.Errorf("%s: a call without a deadline waits for %s", r.Name, d)
		}
		if d := millis(r.Throttle.HonourCeilingMillis); d <= 0 || d >= clients {
			t.Errorf("%s: a provider's wait of up to %s is honoured", r.Name, d)
		}
		if len(r.Lanes) != 3 {
			t.Errorf("%s: %d lanes", r.Name, len(r.Lanes))
		}
		for _, l := range r.Lanes {
			if d := millis(l.MaxWaitMillis); d <= 0 || d >= clients {
				t.Errorf("%s: a call of lane %s waits in the queue for %s", r.Name, l.Name, d)
			}
		}
		if r.Deadline.OnExceeded != "" {
			t.Errorf("%s: what does not fit is answered by %s", r.Name, r.Deadline.OnExceeded)
		}
	}
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
