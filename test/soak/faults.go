// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// misdeed is one turn of the provider's script.
type misdeed struct {
	faults []fakeprovider.Fault
	// lasts is how long they are played; 0 is until they are used up.
	lasts time.Duration
}

// quotaModel is a model of its own, since an exhausted quota stops it for a minute.
const quotaModel = "gpt-4.1-nano"

func misdeeds(d fakeprovider.Dialect) []misdeed {
	yes := true
	once := func(faults ...fakeprovider.Fault) misdeed {
		for i := range faults {
			faults[i].Dialect = d
		}
		return misdeed{faults: faults}
	}
	type fault = fakeprovider.Fault
	overload := once(fault{Kind: fakeprovider.FaultOverload, Count: -1})
	overload.lasts = 2 * time.Second
	return []misdeed{
		once(fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "1", Count: 3}),
		once(fault{Kind: fakeprovider.FaultTruncate, AfterContent: 4, Stream: &yes, Count: 3}),
		once(fault{Kind: fakeprovider.FaultThrottle, Count: 3}),
		overload,
		once(fault{Kind: fakeprovider.FaultReset, Count: 2}, fault{Kind: fakeprovider.FaultGzip, Count: 4}),
		once(fault{Kind: fakeprovider.FaultSlow, FirstByteMillis: 1500, ChunkMillis: 20, Count: 3}),
		once(fault{Kind: fakeprovider.FaultThrottle, RetryAfterMs: "1234", RetryAfter: "2", Count: 5}),
		once(fault{Kind: fakeprovider.FaultReset, AfterContent: 5, Stream: &yes, Count: 3}),
		once(fault{Kind: fakeprovider.FaultStreamOverload, Count: 2}, fault{Kind: fakeprovider.FaultStreamOverload, AfterContent: 3, Count: 1}),
		once(fault{Kind: fakeprovider.FaultHang, FirstByteMillis: 2000, Count: 1}),
		once(fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "12", Count: 1}), // above the ceiling
		{faults: []fault{{Kind: fakeprovider.FaultQuota, Model: quotaModel, Count: 1}}},
	}
}

// slowest is how much longer than usual a script makes the first byte, and each piece after it.
const (
	slowestFirst = 2 * time.Second
	slowestChunk = 20 * time.Millisecond
)

// misbehave plays the script, a dialect after the other, until ctx ends.
func (s *soak) misbehave(ctx context.Context) {
	script := []misdeed{}
	anthropic, openai := misdeeds(fakeprovider.Anthropic), misdeeds(fakeprovider.OpenAI)
	for i := range anthropic {
		script = append(script, anthropic[i], openai[(i+5)%len(openai)])
	}
	for turn := 0; pause(ctx, 1500*time.Millisecond); turn++ {
		m := script[turn%len(script)]
		// A provider that is being restarted misses a turn.
		_ = s.provider.do(ctx, http.MethodPost, "/_fake/faults", m.faults, nil)
		if m.lasts > 0 && pause(ctx, m.lasts) {
			_ = s.provider.do(ctx, http.MethodDelete, "/_fake/faults", nil, nil)
		}
	}
}

// pause waits; false if ctx ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
