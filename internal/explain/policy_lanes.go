// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/plan"
)

func (p *page) lanes(r plan.Route) {
	if len(r.Lanes) < 2 && !declaresSize(r) {
		return
	}
	rows := [][]string{{"LANE", "TAKES", "ITS OWN", "ITS LARGEST CALL WAITS AT MOST", "QUEUE"}}
	for i, lane := range r.Lanes {
		rows = append(rows, []string{
			lane.Name, takes(r.Lanes, i), guaranteed(r, lane), worst(r, lane),
			fmt.Sprintf("%d calls, %s", lane.MaxDepth, duration(millis(lane.MaxWaitMillis))),
		})
	}
	p.WriteByte('\n')
	p.table(rows)
	p.line("  What a lane does not use is lent to the others and comes back at once.")
}

func declaresSize(r plan.Route) bool { return len(r.Lanes) == 1 && r.Lanes[0].LargestCallTokens > 0 }

// takes says which calls a lane gets, given those before it.
func takes(lanes []plan.Lane, i int) string {
	for _, earlier := range lanes[:i] {
		if earlier.MinInputTokens <= lanes[i].MinInputTokens {
			return "no call: " + earlier.Name + " takes them"
		}
	}
	switch {
	case lanes[i].MinInputTokens > 0:
		return "from " + amount(float64(lanes[i].MinInputTokens)) + " input tokens"
	case i > 0:
		return "all other calls"
	}
	return "all calls"
}

// guaranteed is r·R of each limit.
func guaranteed(r plan.Route, lane plan.Lane) string {
	share := number(float64(lane.SharePermille)/10) + "%"
	if lane.SharePermille == 0 {
		return "nothing: it has what others leave"
	}
	var parts []string
	for _, l := range r.Limits {
		if l.Budget == plan.InFlight {
			parts = append(parts, fmt.Sprintf("%d of %s", l.Amount*int64(lane.SharePermille)/1000, l.Name))
		} else {
			parts = append(parts, rate(perSecond(l)*float64(lane.SharePermille)/1000)+" of "+l.Name)
		}
	}
	if len(parts) == 0 {
		return share
	}
	return share + ": " + strings.Join(parts, ", ")
}

// worst is max over the limits of c/(r·R), c being the lane's largest call. Output depends on the call and is left
// out.
func worst(r plan.Route, lane plan.Lane) string {
	largest := max(lane.LargestCallTokens, lane.MinInputTokens)
	if largest == 0 {
		return "largestCall is not stated"
	}
	longest, in := 0.0, ""
	for _, l := range r.Limits {
		if l.Budget != plan.InputTokens && l.Budget != plan.Tokens || len(l.Models) > 0 {
			continue
		}
		share := perSecond(l) * float64(lane.SharePermille) / 1000
		if share == 0 {
			return "as long as others use " + l.Name
		}
		if took := float64(largest) / share; took > longest {
			longest, in = took, waitFor(largest, l, lane.SharePermille)
		}
	}
	if in == "" {
		return "-"
	}
	return in + " (" + amount(float64(largest)) + ")"
}
