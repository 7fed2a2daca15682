// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// buckets are the widespread triples that name no budget and no window; they count requests. The older
// IETF draft has the shorter names.
var buckets = []guidance.Triple{
	{Budget: plan.Requests, Limit: "X-Ratelimit-Limit", Remaining: "X-Ratelimit-Remaining", Reset: "X-Ratelimit-Reset"},
	{Budget: plan.Requests, Limit: "Ratelimit-Limit", Remaining: "Ratelimit-Remaining", Reset: "Ratelimit-Reset"},
}
