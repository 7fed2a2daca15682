// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "time"

// Bounds of a message. What has more is refused whole.
const (
	maxBudgets = 32
	maxLanes   = 64
	// maxPoolBudgets, maxShadows and maxPoolLanes are a whole pool's.
	maxPoolBudgets = 512
	maxShadows     = 1024
	maxPoolLanes   = 512
	maxWants       = 2 * maxLanes
	maxName        = 256
)

// Term is a holder's account at a leader. A later one voids all grants of the ones before.
type Term struct {
	// Epoch grows with each leader.
	Epoch uint64
	// Opening grows with each account that a leader opens.
	Opening uint64
}

func (t Term) before(u Term) bool {
	return t.Epoch < u.Epoch || t.Epoch == u.Epoch && t.Opening < u.Opening
}

// Amount is a quantity of a budget.
type Amount struct {
	Budget string
	Units  float64
}

// Report is what a holder says. All counters are cumulative since the incarnation's start.
type Report struct {
	Holder      string
	Incarnation uint64
	// Sequence grows with each report of the incarnation.
	Sequence uint64
	// Term is the newest the holder has heard of; zero before the first grant.
	Term Term
	// Stamp is the newest that a grant of the term brought, and Lease is how long the holder may spend from now on,
	// both 0 without one. Together they say until when it surely does not take its safe share.
	Stamp  int64
	Lease  time.Duration
	Counts []Count
	Wants  []Want
	// Seen is what the provider said it has of a budget, at the most: others may use the account too.
	Seen []Amount
	// Draining says that the holder ends: it spends nothing any longer, and all it held is in Returned.
	Draining bool
}

// Count is a report about one budget.
type Count struct {
	Budget string
	// Spent is what was taken, overspending included.
	Spent float64
	// Returned is what was given back unspent.
	Returned float64
	// Refunded is what was spent by an earlier report and turned out not to be.
	Refunded float64
	// Held is the balance now, for a new leader, who knows nothing; of slots, those in use included.
	Held float64
}

// Want asks for grants to a lane.
type Want struct {
	Lane string
	// Bulk numbers a call that is granted whole, growing by incarnation and lane; 0 is for small calls.
	Bulk uint64
	// Units is the cost of the bulk call, or up to which total of the lane, counted as in Grant.Lanes, small calls
	// want to be granted.
	Units []Amount
}

// Grant is what a leader says to an incarnation of a holder.
type Grant struct {
	Holder      string
	Incarnation uint64
	Term        Term
	// Ack is the sequence of the newest report received: the lease lasts for a TTL from when that was sent.
	Ack uint64
	// Stamp is the leader's time, which the holder quotes.
	Stamp int64
	// Totals are granted over all lanes in the term, and what the account was opened with.
	Totals []Amount
	Lanes  []LaneTotal
	// Expected is what small calls may expect of each budget in a second.
	Expected []Amount
	// Recall asks to give back what is not needed at once: a large call waits for it.
	Recall bool
}

// LaneTotal is what was granted to one lane in the term.
type LaneTotal struct {
	Lane  string
	Units []Amount
	// Bulk is the number of the newest large call that was granted.
	Bulk uint64
	// Outlook is by budget how the lane stands, if it asks for large calls. Asked is the large
	// call of the holder that is counted there, 0 if none is.
	Outlook []Outlook
	Asked   uint64
}

// units returns the amount of a budget, 0 if there is none.
func units(in []Amount, name string) float64 {
	for _, a := range in {
		if a.Budget == name {
			return a.Units
		}
	}
	return 0
}
