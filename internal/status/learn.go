// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// raiseAfter is for how long the provider must have stated more than is in force. A limit that differs from model to
// model is stated now so and now so, and each change makes the plans of all namespaces anew.
const raiseAfter = 5 * time.Minute

// Learning remembers of one account since when the provider states more than what was learned. Its zero value is ready.
type Learning struct {
	// raise has, by limit, since when, and the least that was stated since.
	raise map[string]raising
}

type raising struct {
	since time.Time
	least int64
}

// Take returns what is learned of the limits that the account watches or has learned: kept is what the status has. A limit
// is the least that gateways are told, once two answers told one. It falls at once, and rises to no more than what was
// stated all the time for raiseAfter.
func (l *Learning) Take(in AccountInputs, kept map[string]int64, now time.Time) map[string]int64 {
	if in.Declared {
		l.raise = nil
		return nil
	}
	out, raise := map[string]int64{}, map[string]raising{}
	for _, limit := range accountLimits(in) {
		name := limit.declared.Name
		if kept[name] > 0 {
			out[name] = kept[name]
		}
		if limit.said < enoughSaid || limit.least < 1 {
			continue
		}
		stated := int64(min(limit.least, plan.MaxAmount-1))
		if kept[name] == 0 || stated <= kept[name] {
			out[name] = stated
			continue
		}
		r, ok := l.raise[name]
		if !ok {
			r = raising{now, stated}
		}
		r.least = min(r.least, stated)
		if now.Sub(r.since) >= raiseAfter {
			out[name] = r.least
			continue
		}
		raise[name] = r
	}
	l.raise = raise
	return out
}
