// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// level is what a bucket is seen to be.
type level struct {
	Limit
	remaining float64
	untilFull time.Duration
}

// throttled is a refusal for lack of budget.
type throttled struct {
	level level
	cost  float64
	wait  time.Duration
	never bool
}

// admit takes the call's cost from its account, or nothing.
func (s *Server) admit(c *call) (bucket.Verdict, level) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Now()
	c.account = s.account(accountID{c.dialect, KeyHash(c.key), s.opts.group(c.req.Model)}, now)
	profile := s.opts.Profiles[c.dialect]
	charges := make([]bucket.Charge, 0, len(c.account.limits))
	for _, l := range c.account.limits {
		charges = append(charges, bucket.Charge{Bucket: l.bucket, Cost: c.admissionCost(l.Budget, profile.Charges)})
	}
	v := bucket.Admit(now, charges)
	if v.Admitted {
		c.admitted = true
		c.account.counts.admitted++
		s.counts.admitted++
		return v, level{}
	}
	c.account.counts.throttled++
	s.counts.throttled++
	at := levelOf(c.account.limits[v.Short], now)
	if profile.ChargeRejected {
		for _, ch := range charges {
			ch.Bucket.Take(now, ch.Cost)
		}
	}
	return v, at
}

// admissionCost is what a call takes from a budget when it is admitted.
func (c *call) admissionCost(b Budget, charges Charges) float64 {
	input, output := float64(c.size.input), float64(c.size.allowed)
	if c.p.cacheOutside || c.op == &rawPredictOperation {
		input += float64(c.size.cacheWrite) // outside the input; what is read from the cache is free
	}
	if c.p.cacheReserved {
		input += float64(c.size.cached)
	}
	if charges == AsProduced {
		// Output is charged later; but nothing starts on a budget in debt.
		output = 0
	}
	switch b {
	case Requests:
		return 1
	case InputTokens:
		return input
	case OutputTokens:
		return output
	default:
		return input + output
	}
}

// settle charges output that was produced, as the dialect does.
func (s *Server) settle(c *call, produced int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.produced += produced
	if c.account == nil {
		return
	}
	s.chargeOutput(c, float64(produced), AsProduced)
}

// refund gives back what EstimateThenActual took too much, once the call is over.
func (s *Server) refund(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.admitted || s.opts.Profiles[c.dialect].Charges != EstimateThenActual {
		return
	}
	s.chargeOutput(c, float64(c.produced-c.size.allowed), EstimateThenActual)
	if c.p.cacheReserved {
		s.take(c, -float64(c.size.cached), InputTokens, Tokens)
	}
}

// chargeOutput takes tokens from the output budgets if the dialect charges so. s.mu is held.
func (s *Server) chargeOutput(c *call, tokens float64, how Charges) {
	if s.opts.Profiles[c.dialect].Charges != how {
		return
	}
	s.take(c, tokens, OutputTokens, Tokens)
}

// take takes tokens from the call's buckets of some budgets. s.mu is held.
func (s *Server) take(c *call, tokens float64, from ...Budget) {
	now := s.opts.Now()
	for _, l := range c.account.limits {
		if slices.Contains(from, l.Budget) {
			l.bucket.Take(now, tokens)
		}
	}
}

// levels are the budgets of the call's account as they are now.
func (s *Server) levels(c *call) []level {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.account == nil {
		return nil
	}
	now := s.opts.Now()
	out := make([]level, 0, len(c.account.limits))
	for _, l := range c.account.limits {
		out = append(out, levelOf(l, now))
	}
	return out
}

func levelOf(l limited, now time.Time) level {
	return level{Limit: l.Limit, remaining: l.bucket.Level(now), untilFull: l.bucket.UntilFull(now)}
}
