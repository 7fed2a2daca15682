// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/plan"
)

const (
	// endless is a wait that no rate ends.
	endless = 1e9 * time.Second
	// unknownWait stands for it in answers: a gateway has no share, or a slot is needed, and neither lasts as it
	// is. It is about what the coordinator needs to divide anew.
	unknownWait = 10 * time.Second
)

// describeLocked translates a verdict; mu is held.
func (g *Gate) describeLocked(t *Ticket, v budget.Verdict) Verdict {
	out := Verdict{State: v.State, Reason: v.Reason, Wait: v.Wait}
	if v.State != budget.Refused {
		return out
	}
	if v.Wait >= endless {
		out.Wait = unknownWait
	}
	for i := range t.call.Costs {
		if t.call.Costs[i].Bucket != v.Bucket {
			continue
		}
		out.Need = t.call.Costs[i].Amount
		p := &t.parts[i]
		if l := t.declared(p); l != nil {
			out.Limit = l.Name
			out.Amount = l.spoken()
			continue
		}
		out.Limit, out.AtProvider = spokenBudget[p.budget], true
		if p.mirror.limit > 1 {
			out.Amount = Described(p.mirror.limit, p.mirror.window)
		}
	}
	return out
}

// declared is the policy's limit that a refusal is attributed to, nil if it is the provider's own. Where
// both allow about the same, the mirror refuses a moment earlier, and yet it is the policy that is used up.
func (t *Ticket) declared(p *part) *limit {
	if p.limit != nil {
		return p.limit
	}
	for i := range t.parts {
		if l := t.parts[i].limit; l != nil && l.Budget == p.budget && within(rate(l.Limit), p.mirror.rate, guardStart) {
			return l
		}
	}
	return nil
}

var spokenBudget = map[string]string{
	plan.Requests: "requests", plan.Tokens: "tokens", plan.InputTokens: "input-tokens", plan.OutputTokens: "output-tokens",
}

// spoken is the limit as refusals name it. Who is refused by a safe share is told so.
func (l *limit) spoken() string {
	window := time.Duration(l.WindowSeconds) * time.Second
	whole := Described(float64(l.Amount), window)
	switch {
	case !l.safe:
		return whole
	case l.Budget == plan.InFlight:
		return whole + ", safe share " + Rounded(l.share.Capacity) + ": no coordinator"
	}
	return whole + ", safe share " + Described(l.share.RatePerSecond*window.Seconds(), window) + ": no coordinator"
}

// Described is an amount with its window as people say it: 400k/min.
func Described(amount float64, window time.Duration) string {
	text := Rounded(amount)
	switch window {
	case 0:
		return text
	case time.Second:
		return text + "/s"
	case time.Minute:
		return text + "/min"
	case time.Hour:
		return text + "/h"
	case 24 * time.Hour:
		return text + "/day"
	default:
		return text + "/" + window.String()
	}
}

// Rounded writes a count as people say it: 999, 38k, 427k, 1.9M.
func Rounded(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v < unit.size {
			continue
		}
		scaled := v / unit.size
		digits := 0
		if scaled < 10 && math.Round(scaled*10) != math.Round(scaled)*10 {
			digits = 1
		}
		return strconv.FormatFloat(scaled, 'f', digits, 64) + unit.name
	}
	return strconv.FormatFloat(math.Ceil(v), 'f', 0, 64)
}
