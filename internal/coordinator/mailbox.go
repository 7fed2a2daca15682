// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"sync"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

// mailbox is between a stream and the ledger. Of each route it keeps the newest message in each direction: counters are
// cumulative, so the newest says all. What a gateway can have waiting is so bounded by what governs it, however much it
// sends and however little it reads.
type mailbox struct {
	mu      sync.Mutex
	reports map[routeKey]*pool.Report
	grants  map[routeKey]*wire.Grant
}

// report puts a report in, and says whether it is the first since they were last taken.
func (b *mailbox) report(key routeKey, r *pool.Report) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reports == nil {
		b.reports = map[routeKey]*pool.Report{}
	}
	first = len(b.reports) == 0
	if was := b.reports[key]; was == nil || was.Sequence < r.Sequence {
		b.reports[key] = r
	}
	return first
}

func (b *mailbox) takeReports() map[routeKey]*pool.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.reports
	b.reports = nil
	return taken
}

func (b *mailbox) grant(key routeKey, g *wire.Grant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.grants == nil {
		b.grants = map[routeKey]*wire.Grant{}
	}
	b.grants[key] = g
}

// takeGrants takes what there is, in messages of a bounded size.
func (b *mailbox) takeGrants() (messages []*wire.Down) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var last *wire.Grants
	for _, g := range b.grants {
		if last == nil || len(last.Grants) == wire.MaxDraws {
			last = &wire.Grants{}
			messages = append(messages, &wire.Down{Message: &wire.Down_Grants{Grants: last}})
		}
		last.Grants = append(last.Grants, g)
	}
	clear(b.grants)
	return messages
}
