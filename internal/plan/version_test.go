// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
)

// Each new field alone makes the plan one that older gateways refuse whole, rather than one they misread.
func TestE13EachNewFieldNeedsTheNewVersion(t *testing.T) {
	zero := int64(0)
	tests := map[string]func(*Route){
		"header":       func(r *Route) { r.Lanes[0].Header = &Header{Name: "X-Kind"} },
		"models":       func(r *Route) { r.Lanes[0].Models = []string{"a*"} },
		"paths":        func(r *Route) { r.Lanes[0].Paths = []string{"/v1/*"} },
		"priority":     func(r *Route) { r.Lanes[1].Priority = -1 },
		"weight":       func(r *Route) { r.Lanes[1].Weight = 2 },
		"no hold":      func(r *Route) { r.Lanes[1].HoldMillis = &zero },
		"bytes":        func(r *Route) { r.Lanes[1].MaxBytes = 1 },
		"key":          func(r *Route) { r.Lanes[1].CredentialKey = "batch" },
		"deferral":     deferring,
		"ceiling":      func(r *Route) { deferring(r); r.Deadline.OnExceeded, r.Throttle.OnCeilingExceeded = "", Defer },
		"failing over": func(r *Route) { r.Throttle.OnCeilingExceeded, r.Throttle.FailoverTo = Failover, "other" },
	}
	old := testPlan()
	if got := old.NeededVersion(); got != 1 {
		t.Errorf("a plan without them needs version %d", got)
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			p := testPlan()
			change(&p.Policies[1].Routes[0])
			if got := p.NeededVersion(); got != 2 {
				t.Errorf("needs version %d, want 2", got)
			}
			if err := p.Validate(); err != nil {
				t.Errorf("refused: %v", err)
			}
			p.Version = 1
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "fields of version 2") {
				t.Errorf("Validate = %v, want an error about the version", err)
			}
		})
	}
}

func deferring(r *Route) {
	r.CredentialKey, r.Deadline.OnExceeded = "key", Defer
	r.Deferred = &Deferred{MaxAgeSeconds: 60, MaxAttempts: 10, MaxCalls: 1000, MaxBytes: 1 << 20, CallbackHosts: []string{"a.example.com", "*.b.example.com"}}
}
