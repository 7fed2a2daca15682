// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// group is what is known of one account's buckets at the provider.
type group struct {
	name    string
	facts   *facts.Facts
	mirrors [4]*mirror
	hold    *mirror
	// heldAt is when the latest hold by time began.
	heldAt   time.Time
	used     uint64
	jitter   jitter
	adaptive adaptive
}

// mirror is one bucket of the provider's, as far as it is known.
type mirror struct {
	budget   string
	id       budget.BucketID
	known    bool
	declared bool // from the policy, the provider has not said
	limit    float64
	rate     float64 // the provider's own, in units per second
	window   time.Duration
	// basis is the reset that the rate was computed from: of a longer one the rate is more exact.
	basis     time.Duration
	remaining float64
	reported  bool
	// heard is when the provider last said something of it, asked when a call was last let past it to find out more.
	heard, asked time.Time

	// pace and capacity are what the scheduler was given of rate and limit.
	pace, capacity float64
	jitter         *jitter
	flow           flow
	spread         spread
	guard          guard
	outsiders      outsiders
	// disagreement is how far the mirror was above what reports prove, or below; smoothed.
	disagreement float64
	// loweredAt is when an answer last showed that what is in flight does not fit: calls sent before may be refused
	// for the same reason. loweredBy is the send it belonged to, loweredBefore the time before that.
	loweredAt, loweredBefore time.Time
	loweredBy                uint64
	proven                   proven
	// unseen calls were under way when the mirror became known, up to the send blind; their costs are in no flow.
	unseen int
	blind  uint64
}

var mirrored = [...]string{plan.Requests, plan.Tokens, plan.InputTokens, plan.OutputTokens}

// groupLocked returns the group of t's account at its provider; mu is held.
func (g *Gate) groupLocked(t *Ticket) *group {
	g.uses++
	if grp := g.groupOf(t); grp != nil {
		grp.used = g.uses
		return grp
	}
	if len(g.groups) >= maxGroups {
		g.dropOldestLocked()
	}
	key := metered{t.Account, t.Provider}
	grp := &group{name: key.name(), facts: cmp.Or(t.facts, g.facts)}
	for i, name := range mirrored {
		grp.mirrors[i] = &mirror{budget: name, jitter: &grp.jitter}
	}
	grp.hold = &mirror{budget: plan.Requests, jitter: &grp.jitter}
	grp.used = g.uses
	g.groups[key] = grp
	return grp
}

func (g *Gate) dropOldestLocked() {
	var oldest metered
	least := uint64(math.MaxUint64)
	for a, grp := range g.groups {
		if grp.used < least {
			oldest, least = a, grp.used
		}
	}
	delete(g.groups, oldest)
}

func (grp *group) mirror(name string) *mirror {
	for i, b := range mirrored {
		if b == name {
			return grp.mirrors[i]
		}
	}
	return nil
}
