// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"maps"
	"math"
	"slices"
)

// Merge adds up the results of several apps of one role.
func Merge(results []Result) Result {
	out := Result{State: Done, Failed: map[string]int64{}}
	for _, r := range results {
		if r.State != Done {
			out.State = Running
		}
		out.Role, out.Name = r.Role, r.Name
		out.Calls, out.OK, out.Skipped = out.Calls+r.Calls, out.OK+r.OK, out.Skipped+r.Skipped
		out.InFlight, out.TokensOK = out.InFlight+r.InFlight, out.TokensOK+r.TokensOK
		for kind, n := range r.Failed {
			out.Failed[kind] += n
		}
		out.WaitsMillis = append(out.WaitsMillis, r.WaitsMillis...)
		out.DeclinedMillis = append(out.DeclinedMillis, r.DeclinedMillis...)
		out.Failures = append(out.Failures, r.Failures...)
		if out.StartedUnixMillis == 0 || r.StartedUnixMillis < out.StartedUnixMillis {
			out.StartedUnixMillis = r.StartedUnixMillis
		}
		out.EndedUnixMillis = max(out.EndedUnixMillis, r.EndedUnixMillis)
	}
	slices.Sort(out.WaitsMillis)
	slices.Sort(out.DeclinedMillis)
	return out
}

// FailedCalls is how many calls failed, of all kinds.
func (r Result) FailedCalls() int64 {
	var n int64
	for _, v := range r.Failed {
		n += v
	}
	return n
}

// Kinds returns the kinds of failure there were, in order.
func (r Result) Kinds() []string { return slices.Sorted(maps.Keys(r.Failed)) }

// Percentile returns the value below which a share p of the sorted values lie (nearest rank); 0 if there
// are none.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
