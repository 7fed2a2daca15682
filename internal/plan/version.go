// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// versionOfLanes is the version in which lanes got an order and more to match, and calls could be deferred and fail
// over. A reader that does not know these fields would send calls to other lanes, or decline what is to be kept.
const versionOfLanes = 2

// versionOfAccounts is the version in which limits could be of an account, and a route say what an outage does to it. A
// reader that does not know these fields would take an account's limit for one of the namespace's own.
const versionOfAccounts = 3

// NeededVersion is the oldest version that has all fields of the plan.
func (p *Plan) NeededVersion() int {
	needed := 1
	for i := range p.Policies {
		routes := p.Policies[i].Routes
		if slices.ContainsFunc(routes, Route.isOfAccounts) {
			return versionOfAccounts
		}
		if slices.ContainsFunc(routes, Route.isOfLanes) {
			needed = versionOfLanes
		}
	}
	return needed
}

func (r Route) isOfAccounts() bool {
	return r.Account != "" || r.Outage != "" || slices.ContainsFunc(r.Limits, func(l Limit) bool {
		return l.Account != "" || l.MaxGateways != 0
	})
}

func (r Route) isOfLanes() bool {
	return r.Deadline.OnExceeded != "" || r.Throttle.OnCeilingExceeded != "" || r.Throttle.FailoverTo != "" ||
		r.Deferred != nil || slices.ContainsFunc(r.Lanes, Lane.isOfLanes)
}

func (l Lane) isOfLanes() bool {
	return l.Header != nil || len(l.Models) > 0 || len(l.Paths) > 0 || l.Priority != 0 || l.Weight != 0 ||
		l.HoldMillis != nil || l.MaxBytes != 0 || l.CredentialKey != ""
}
