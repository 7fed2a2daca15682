// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strconv"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// An edit may send a route's calls elsewhere while others wait for the provider from before, or are under way there: these are
// judged and charged by what that one says, and the others by what the new one says.

// Provider is where calls go, and what is spoken there.
type Provider struct{ Dialect, BaseURL string }

// metered is what is learned apart: an account at a provider.
type metered struct {
	Account

	at Provider
}

// name begins the names of the buckets of mirrors. Models are the clients' words and the base URL may hold anything, so that
// they are kept apart by quotes.
func (m metered) name() string {
	return "mirror/" + m.at.Dialect + strconv.Quote(m.at.BaseURL) + "/" + strconv.FormatUint(m.Fingerprint, 16) + "/" + m.Model + "/"
}

// hereLocked is where the route's calls go now; mu is held.
func (g *Gate) hereLocked() Provider { return Provider{g.route.Dialect, g.route.BaseURL} }

// moveLocked has calls that come from now on charged as the provider of an edited route charges. What was learned of the one
// before says nothing of it, and binds only who still goes there. mu is held.
func (g *Gate) moveLocked(to *plan.Route) {
	if to.Dialect != g.route.Dialect {
		g.facts = factsOf(to.Dialect, g.facts)
		g.estimator.charge(g.facts.Charges)
	}
}

// addressLocked notes where t goes and what is charged there, which stays whatever the route becomes; mu is held.
func (g *Gate) addressLocked(t *Ticket) {
	if t.Provider == (Provider{}) {
		t.Provider = g.hereLocked()
	}
	t.facts = g.facts
	if t.Dialect != g.route.Dialect {
		t.facts = factsOf(t.Dialect, g.facts)
	}
}

// factsOf are a dialect's facts, else what is given.
func factsOf(dialect string, otherwise *facts.Facts) *facts.Facts {
	if f, known := facts.ByName(dialect); known {
		return &f
	}
	return otherwise
}

// groupOf is what is known of t's account at its provider, nil if nothing is; mu is held.
func (g *Gate) groupOf(t *Ticket) *group { return g.groups[metered{t.Account, t.Provider}] }
