// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"strings"
	"testing"
	"time"
)

// Who repeats calls is told apart, over gateways; what an older gateway does not tell apart, and what nobody knows, is
// "other", and the parts are never more than the whole.
func TestStackedRetriesAreDividedAmongSDKs(t *testing.T) {
	s, a, b := NewStore(), newReporter("a", time.Second), newReporter("b", time.Second)
	a.route.StackedRetries, a.route.StackedBySdk = 9, map[string]uint64{"openai-go": 5, "aws": 3, "somebody's": 1}
	a.report(s, start)
	b.route.StackedRetries = 4
	b.report(s, start)
	p := figuresAt(t, s, start).Providers[0]
	if p.StackedRetries != 13 || p.StackedMostlyBy != "openai-go" {
		t.Errorf("%d, mostly by %q", p.StackedRetries, p.StackedMostlyBy)
	}
	got := s.Totals(start)[0].Providers[0].StackedBy
	if len(got) != 3 || got["openai-go"] != 5 || got["aws"] != 3 || got["other"] != 5 {
		t.Errorf("totals %v", got)
	}
	b.route.StackedRetries, b.route.StackedBySdk = 5, map[string]uint64{"anthropic-go": 1 << 60}
	b.report(s, start)
	if p := figuresAt(t, s, start).Providers[0]; p.StackedRetries != 14 {
		t.Errorf("%d after one more", p.StackedRetries)
	}
	if p := figuresAt(t, s, start.Add(2*Window)); len(p.Providers) > 0 && p.Providers[0].StackedMostlyBy != "" {
		t.Errorf("%q long after", p.Providers[0].StackedMostlyBy)
	}
}

// The words of the gateway whose state is worst are shown, with their code, within bounds.
func TestStateKeepsTheProvidersOwnWords(t *testing.T) {
	s, a, b := NewStore(), newReporter("a", time.Second), newReporter("b", time.Second)
	a.route.State, a.route.StateMessage, a.route.StateCode = "Throttling", "slow down", "rate_limit"
	a.report(s, start)
	b.route.State, b.route.StateCode = "QuotaExhausted", "insufficient_quota\n"+strings.Repeat("x", 200)
	b.route.StateMessage, b.route.QuotaResetUnixMillis = strings.Repeat("é", 400), start.Add(time.Hour).UnixMilli()
	b.report(s, start)
	p := figuresAt(t, s, start).Providers[0]
	if p.State != "QuotaExhausted" || !strings.HasPrefix(p.StateCode, "insufficient_quota x") || len(p.StateCode) > maxCode {
		t.Errorf("state %s, code %q", p.State, p.StateCode)
	}
	if len(p.StateMessage) > maxMessage || !strings.HasPrefix(p.StateMessage, "éé") || !p.QuotaResetAt.Equal(start.Add(time.Hour)) {
		t.Errorf("message %q until %s", p.StateMessage, p.QuotaResetAt)
	}
}
