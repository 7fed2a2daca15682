// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package standalone

import (
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// accounts are those whose limits the plan has: here it is what knows them.
func accounts(p *plan.Plan) []ledger.Account {
	var out []ledger.Account
	for i := range p.Policies {
		for j := range p.Policies[i].Routes {
			r := &p.Policies[i].Routes[j]
			if r.Account == "" {
				continue
			}
			at := slices.IndexFunc(out, func(a ledger.Account) bool { return a.Name == r.Account })
			if at < 0 {
				at = len(out)
				out = append(out, ledger.Account{Name: r.Account, Outage: r.Outage})
			}
			add(&out[at], r.Limits)
		}
	}
	return out
}

func add(a *ledger.Account, limits []plan.Limit) {
	for _, l := range limits {
		if l.Account != a.Name {
			continue
		}
		l.Name = strings.TrimPrefix(l.Name, a.Name+":")
		if !slices.ContainsFunc(a.Limits, func(had plan.Limit) bool { return had.Name == l.Name }) {
			a.Limits = append(a.Limits, l)
			a.MaxGateways = max(a.MaxGateways, l.MaxGateways)
		}
	}
}
