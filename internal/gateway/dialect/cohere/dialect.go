// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package cohere

import (
	"net/http"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
	"github.com/headgate-dev/headgate/internal/gateway/meter"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Dialect implements dialect.Dialect. Credentials, and the injection of usage where it is OpenAI's API, are OpenAI's.
type Dialect struct{ openai.Dialect }

var _ dialect.Dialect = Dialect{}

// buckets are sent to trial keys alone, and with successes alone. The month's says no remainder.
var buckets = []guidance.Triple{
	{
		Budget: plan.Requests, Limit: "X-Trial-Endpoint-Call-Limit", Remaining: "X-Trial-Endpoint-Call-Remaining",
		Reset: "X-Ratelimit-Reset", Window: time.Minute,
	},
	{Budget: plan.Requests, Bucket: "month", Limit: "X-Endpoint-Monthly-Call-Limit", Window: compatible.Month},
}

// Facts implements dialect.Dialect.
func (Dialect) Facts() facts.Facts {
	f, _ := facts.ByName("Cohere")
	return f
}

// ReadRequest implements dialect.Dialect.
func (Dialect) ReadRequest(op dialect.Operation, contentType string, body []byte) dialect.Request {
	if !op.Metered {
		return dialect.Request{}
	}
	r := request.ReadAs(op, contentType, body, openai.Costs)
	if op.Format != dialect.FormatChat {
		r.WantsUsage = r.Stream // its streams report usage by themselves
	}
	return r
}

// ReadHeaders implements dialect.Dialect.
func (Dialect) ReadHeaders(status int, h http.Header, received time.Time) dialect.Reading {
	return guidance.Read(status, h, received, buckets)
}

// NewMeter implements dialect.Dialect.
func (Dialect) NewMeter(op dialect.Operation, h http.Header, opts dialect.MeterOptions) dialect.Meter {
	opts.StripUsage = opts.StripUsage && op.Format == dialect.FormatChat
	return meter.New(op, h, opts, classifyEvent)
}
