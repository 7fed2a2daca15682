// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"net/http"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
	"github.com/headgate-dev/headgate/internal/gateway/meter"
)

// Dialect implements dialect.Dialect. Credentials, refusals and the injection of usage are OpenAI's.
type Dialect struct{ openai.Dialect }

var _ dialect.Dialect = Dialect{}

// Facts implements dialect.Dialect.
func (Dialect) Facts() facts.Facts {
	f, _ := facts.ByName("Generic")
	return f
}

// ReadRequest implements dialect.Dialect.
func (Dialect) ReadRequest(op dialect.Operation, contentType string, body []byte) dialect.Request {
	if !op.Metered {
		return dialect.Request{}
	}
	r := request.ReadAs(op, contentType, body, openai.Costs)
	r.WantsUsage = r.WantsUsage || op.Name == messages && r.Stream
	return r
}

// ReadHeaders implements dialect.Dialect.
func (Dialect) ReadHeaders(status int, h http.Header, received time.Time) dialect.Reading {
	r := guidance.Read(status, h, received, openai.Buckets, buckets)
	openai.Days(r.Budgets)
	return r
}

// NewMeter implements dialect.Dialect.
func (Dialect) NewMeter(op dialect.Operation, h http.Header, opts dialect.MeterOptions) dialect.Meter {
	return meter.New(op, h, opts, classifyEvent)
}
