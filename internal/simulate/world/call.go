// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import "time"

// callState is the world's own part of a call.
type callState struct {
	// open: it was offered and not ended. counted: it came after the warmup.
	open, counted bool
	deferred      bool
	resubmits     int
	sends         int
	lastSent      time.Time
	// floor is the time that the provider told the caller to wait for; zero if it told none.
	floor time.Time
	told  int
	// firstContent is when a success began.
	firstContent time.Time
	failedOver   bool
}
