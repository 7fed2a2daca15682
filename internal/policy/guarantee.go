// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Guarantees says what each lane is sure of, one sentence a lane: "anthropic/bulk: 160k/min of input-tokens, a call of
// 60k within 22.5s". It is empty for a policy that Validate refuses, and for providers that declare no lanes or no limits.
func Guarantees(p *v1alpha1.RateLimitPolicy) []string {
	if len(Validate(p)) > 0 {
		return nil
	}
	var out []string
	for i := range p.Spec.Providers {
		if len(p.Spec.Providers[i].Lanes) == 0 || len(p.Spec.Providers[i].Limits) == 0 {
			continue
		}
		route := compileRoute(&p.Spec.Providers[i], p.Spec.Mode)
		for j := range route.Lanes {
			if reachable(route.Lanes, j) {
				out = append(out, route.Name+"/"+Guarantee(&route, &route.Lanes[j]))
			}
		}
	}
	return out
}

// Guarantee is the sentence of one lane: "bulk: 160k/min of input-tokens, a call of 60k within 22.5s". Of a route that
// draws on an account it wants what Guaranteed makes of it.
func Guarantee(r *plan.Route, lane *plan.Lane) string {
	parts, account := shares(r, lane), onlyBorrows(r)
	if lane.SharePermille == 0 || len(parts) == 0 && account == "" {
		return lane.Name + ": nothing of its own, what others leave"
	}
	if account != "" {
		return lane.Name + ": " + strings.Join(append(parts, "of account "+account+" what other namespaces leave"), ", ")
	}
	return lane.Name + ": " + strings.Join(append(parts, within(r, lane)...), ", ")
}

// shares are the lane's parts of the limits that count all of its calls.
func shares(r *plan.Route, lane *plan.Lane) []string {
	var out []string
	for i := range r.Limits {
		l := &r.Limits[i]
		if !l.CountsAll(lane) || l.Account != "" && l.Amount == 0 {
			continue
		}
		part := l.Amount * int64(lane.SharePermille)
		if l.Budget == plan.InFlight { // a call takes a whole one
			out = append(out, quantityText(part/wholePermille)+" of "+l.Name)
			continue
		}
		out = append(out, partText(part)+perWindow(l.WindowSeconds)+" of "+l.Name)
	}
	return out
}

// within is the bound on the wait of the lane's largest call, or, where that is not known, of each thousand tokens.
func within(r *plan.Route, lane *plan.Lane) []string {
	const unit = 1000
	if largest := largestCall(lane); largest > 0 {
		if wait, limit, bounded := r.WaitBound(lane, largest); bounded && limit != "" {
			return []string{fmt.Sprintf("a call of %s within %s", quantityText(largest), millis(wait.Milliseconds())) + outputToo(r, lane)}
		}
		return nil
	}
	if wait, limit, bounded := r.WaitBound(lane, unit); bounded && limit != "" {
		return []string{fmt.Sprintf("a call within %s for each 1k of it", millis(wait.Milliseconds())) + outputToo(r, lane)}
	}
	return nil
}

// outputToo names the limits that a call's output, which no policy states, waits for as well: the time that input takes
// is not all of it there.
func outputToo(r *plan.Route, lane *plan.Lane) string {
	var names []string
	for i := range r.Limits {
		l := &r.Limits[i]
		counts := l.Budget == plan.Tokens || l.Budget == plan.OutputTokens
		if counts && l.Amount > 0 && l.WindowSeconds < plan.CapWindowSeconds && l.CountsAll(lane) {
			names = append(names, l.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " plus what its output takes of " + strings.Join(names, " and ")
}

// partText writes an amount in thousandths: 160k, and 0.3 of what has less than ten.
func partText(permille int64) string {
	if permille%wholePermille != 0 && permille < 10*wholePermille {
		return strconv.FormatFloat(float64(permille/100)/10, 'f', -1, 64)
	}
	return quantityText(permille / wholePermille)
}

func perWindow(seconds int64) string {
	switch seconds {
	case 1:
		return "/s"
	case 60:
		return "/min"
	case 60 * 60:
		return "/h"
	}
	return "/day"
}
