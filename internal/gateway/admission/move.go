// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strconv"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// moveLocked forgets what was learned of a provider where an edit sends calls to another one, or has it speak otherwise: its
// limits would bind there for as long as nothing is reported, and for good where nothing ever is. mu is held.
func (g *Gate) moveLocked(to *plan.Route) {
	if to.BaseURL == g.route.BaseURL && to.Dialect == g.route.Dialect {
		return
	}
	g.groups = map[Account]*group{}
	g.moved++
	if f, known := facts.ByName(to.Dialect); known && to.Dialect != g.route.Dialect {
		g.facts = f
		g.estimator.charge(f.Charges)
	}
}

// elsewhere says that t goes to the provider from before an edit: what that answers says nothing of the one that is there.
func (g *Gate) elsewhere(t *Ticket) bool {
	return t.BaseURL != "" && (t.BaseURL != g.route.BaseURL || t.Dialect != g.route.Dialect)
}

// groupOf is what is known of t's account, nil if nothing is; mu is held.
func (g *Gate) groupOf(t *Ticket) *group {
	if g.elsewhere(t) {
		return nil
	}
	return g.groups[t.Account]
}

// mirrorsLocked begins the names of the buckets of mirrors: those of another provider have other ones. mu is held.
func (g *Gate) mirrorsLocked() string {
	if g.moved == 0 {
		return "mirror/"
	}
	return "mirror" + strconv.Itoa(g.moved) + "/"
}
