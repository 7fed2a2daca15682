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

	// breakerSeconds is over how many seconds overloads count for a breaker, the retry budget's window for the same
	// reason: one burst of failures and its first retries.
	breakerSeconds = 10
	// breakerLeast results are needed: fewer say nothing of a provider, and each such call backs off by itself.
	breakerLeast = 5
	// breakerPercent of them must be overloads. Below half, sending goes on to serve more calls than it loses.
	breakerPercent = 50
	// breakerBase and breakerCap bound the time until the next probe, which is U(0, min(cap, base·2^strikes)): of many
	// gateways none waits for another, and an hour of overload costs each about 240 calls a model.
	breakerBase = time.Second
	breakerCap  = 30 * time.Second
	// probeTime is how long a probe is waited for before another may go: most answers have begun by then, and a probe
	// whose end nobody tells must not shut a model for good.
	probeTime = 30 * time.Second
	// strikesKept is how long a breaker remembers, after it closed, how often in a row it had opened: a provider that
	// recovers for seconds only is asked ever less.
	strikesKept = time.Minute
)
