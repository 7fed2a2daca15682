// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
)

// lanes says what each lane takes, who goes first, and what each is sure of whatever the others do.
func (p *page) lanes(r plan.Route, guaranteedPercent float64) {
	if len(r.Lanes) < 2 && !declaresSize(r) {
		return
	}
	rows := [][]string{{"LANE", "TAKES", "SHARE", "TAKES WHAT OTHERS LEAVE", "QUEUE"}}
	for i := range r.Lanes {
		lane := &r.Lanes[i]
		rows = append(rows, []string{lane.Name, takes(r.Lanes, i), number(float64(lane.SharePermille)/10) + "%", order(r.Lanes, i), queue(lane)})
	}
	p.WriteByte('\n')
	p.table(rows)
	p.line("  What a lane does not use is lent to the others and comes back at once.")
	p.guarantees(policy.Guaranteed(&r, guaranteedPercent))
	p.keys(r)
}

// declaresSize: a route with the lane default alone says something only where the lane is configured.
func declaresSize(r plan.Route) bool { return len(r.Lanes) == 1 && r.Lanes[0].LargestCallTokens > 0 }

func takes(lanes []plan.Lane, i int) string {
	for j := range lanes[:i] {
		if lanes[j].Covers(&lanes[i]) {
			return "no call: " + lanes[j].Name + " takes them"
		}
	}
	rules := rulesOf(&lanes[i])
	switch {
	case len(rules) > 0:
		return strings.Join(rules, ", ")
	case i > 0:
		return "all other calls"
	}
	return "all calls"
}

func rulesOf(l *plan.Lane) (rules []string) {
	if l.MinInputTokens > 0 {
		rules = append(rules, "from "+amount(float64(l.MinInputTokens))+" input tokens")
	}
	if h := l.Header; h != nil && h.Value == "" {
		rules = append(rules, "with a header "+h.Name)
	} else if h != nil {
		rules = append(rules, "with "+h.Name+": "+h.Value)
	}
	if len(l.Models) > 0 {
		rules = append(rules, "to "+strings.Join(l.Models, " or "))
	}
	if len(l.Paths) > 0 {
		rules = append(rules, "at "+strings.Join(l.Paths, " or "))
	}
	return rules
}

// order says who goes before lane i where lanes take what others leave, and how those of its own priority divide it.
func order(lanes []plan.Lane, i int) string {
	if unreached(lanes, i) {
		return "-"
	}
	var first, weights []string
	for j := range lanes {
		switch other := &lanes[j]; {
		case unreached(lanes, j):
		case other.Priority > lanes[i].Priority:
			first = append(first, other.Name)
		case other.Priority == lanes[i].Priority:
			weights = append(weights, fmt.Sprint(max(other.Weight, 1)))
		}
	}
	text := "before the others"
	if len(first) > 0 {
		text = "after " + strings.Join(first, " and ")
	}
	if len(weights) < 2 {
		return text
	}
	if len(first) == 0 {
		text = "in turn"
	}
	if weight := fmt.Sprint(max(lanes[i].Weight, 1)); slices.ContainsFunc(weights, func(w string) bool { return w != weight }) {
		text += ", weight " + weight
	}
	return text
}

func unreached(lanes []plan.Lane, i int) bool {
	return slices.ContainsFunc(lanes[:i], func(l plan.Lane) bool { return l.Covers(&lanes[i]) })
}

func queue(l *plan.Lane) string {
	if l.MaxDepth == 0 {
		return "none: what cannot go at once is refused"
	}
	text := fmt.Sprintf("%d calls", l.MaxDepth)
	if l.MaxBytes > 0 {
		text += " of " + bytesText(l.MaxBytes)
	}
	text += ", " + duration(millis(l.MaxWaitMillis))
	if l.KeepAlive {
		text += ", pings to streams"
	}
	return text
}

// guarantees are the sentences that the webhook says too.
func (p *page) guarantees(r *plan.Route) {
	if len(r.Limits) == 0 {
		return
	}
	p.WriteByte('\n')
	p.line("  Guaranteed, whatever the other lanes do:")
	for i := range r.Lanes {
		if !unreached(r.Lanes, i) {
			p.line("  - %s", policy.Guarantee(r, &r.Lanes[i]))
		}
	}
	p.line("  That is of all gateways together, and a call waits as long in any of them.")
	if r.Account != "" {
		p.line("  Add up to a second while other namespaces give back what they have of it.")
	}
}

func (p *page) keys(r plan.Route) {
	for i := range r.Lanes {
		if key := r.Lanes[i].CredentialKey; key != "" {
			p.line("  Lane %s is sent with the key %q.", r.Lanes[i].Name, key)
		}
	}
}

// bytesText writes 32Mi as 32 MiB, and what is no whole number of those as it is.
func bytesText(n int64) string {
	const mega = 1 << 20
	if n >= mega && n%mega == 0 {
		return fmt.Sprintf("%d MiB", n/mega)
	}
	return amount(float64(n)) + " bytes"
}
