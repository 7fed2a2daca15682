// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// The built-in defaults, each with its reason. They may change between releases: a stored object never
// holds one that its author did not write.
const (
	// defaultDeadline is what most SDKs and load balancers still wait for.
	defaultDeadline = time.Minute
	// defaultHonourCeiling leaves half of the deadline to the call itself.
	defaultHonourCeiling = 30 * time.Second
	// defaultJitterPercent spreads a 9 s wait over 2.25 s, which is enough for a bucket to refill between
	// arrivals.
	defaultJitterPercent = 25
	// defaultMaxAttempts: a guided wait is right the first time; a third send covers an outsider who was
	// faster.
	defaultMaxAttempts = 3
	// defaultUnguidedBase and defaultUnguidedCap grow past a minute's refill within the attempts.
	defaultUnguidedBase = 500 * time.Millisecond
	defaultUnguidedCap  = 30 * time.Second
	// defaultOverload…: an overloaded provider recovers in seconds or not within a call's deadline.
	defaultOverloadBase        = time.Second
	defaultOverloadCap         = 30 * time.Second
	defaultOverloadMaxAttempts = 4
	// defaultMaxDepth bounds the memory of waiting calls.
	defaultMaxDepth = 256
	// defaultMaxWait leaves the last ten seconds of the default deadline to the call.
	defaultMaxWait = 50 * time.Second
	// defaultDeferred…: a day covers a provider's worst day and a limit of a day; ten sends of growing waits
	// take hours; a thousand calls of 64 KiB fill the bytes, which half of the state volume holds.
	defaultDeferredAge      = 24 * time.Hour
	defaultDeferredAttempts = 10
	defaultDeferredCalls    = 1000
	defaultDeferredBytes    = 64 << 20
	// defaultMinGateways keeps a small policy's safe share small even before its pods are seen.
	defaultMinGateways = 4
)

// orDefault resolves a field whose absence means a default.
func orDefault[T any](stated *T, value T) T {
	if stated == nil {
		return value
	}
	return *stated
}
