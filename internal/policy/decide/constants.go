// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

const (
	// leastBackoff is the least any retry waits, also after a stated 0: a provider that answers in a few
	// milliseconds would otherwise be asked again before anything there could change. A base below it is
	// its own least.
	leastBackoff = 100 * time.Millisecond

	// leastJittered is what jitter is a part of at least: a stated 0 or 15 ms needs spreading too.
	leastJittered = time.Second

	// patience is the deadline of a call that has none: what most SDKs and load balancers still wait for.
	patience = time.Minute

	// budgetPercent of recent calls may be unguided retries. At a fifth, retries lengthen an outage's load
	// to 1.2 times and no more; guided waits are the provider's own request and free.
	budgetPercent = 20
	// budgetLeast retries are allowed in a window however few calls there were: a single user's retry must
	// not depend on others being busy.
	budgetLeast = 3
	// budgetSeconds is the window. It is about as long as an overload's first backoffs, so that the calls
	// counted are those the retries belong to.
	budgetSeconds = 10
)
