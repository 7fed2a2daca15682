// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import "time"

// ReportInterval is the time between reports of a connected gateway.
const ReportInterval = time.Second

// LeaseTTL is how long a gateway may spend what it was granted, from when it sent the newest draw that was answered.
const LeaseTTL = 10 * time.Second

// Bounds on one message; a receiver ends the stream that exceeds them.
const (
	MaxRoutes = 64
	// MaxLimits are of a policy's provider: its own, and its account's.
	MaxLimits = 32
	MaxLanes  = 9
	// MaxWants are a lane's small calls, and one large one.
	MaxWants        = 2 * MaxLanes
	MaxModels       = 21
	MaxMessageBytes = 1 << 20
	// MaxDraws is how many draws or grants are sent in one message, so that the largest fit; the others follow in the next.
	MaxDraws = 12
)

// SDKs are who is known to repeat calls by itself, beside the gateway; the last stands for all others.
var SDKs = [...]string{
	"openai-python", "openai-node", "openai-go", "anthropic-python", "anthropic-node", "anthropic-go",
	"stainless-python", "stainless-node", "stainless-go", "aws", SDKOther,
}

// SDKOther is an SDK that is not known any closer.
const SDKOther = "other"

// WaitBoundsMillis are the upper bounds of LaneReport.wait_buckets; the last bucket is above them all.
var WaitBoundsMillis = [...]uint64{1, 10, 50, 100, 250, 500, 1000, 2500, 5000, 7500, 10000, 15000, 20000, 25000, 30000, 40000, 50000, 60000, 120000, 300000}
