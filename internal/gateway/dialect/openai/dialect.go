// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"net/http"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/credential"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/reply"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
	"github.com/headgate-dev/headgate/internal/gateway/meter"
)

// Costs are what parts that are not text cost. A detailed picture of the usual sizes takes 765 to 1,445
// tokens, a minute of speech 600 to 1,500, a page of a document about 1,000.
var Costs = request.Costs{Image: 1500, Audio: 1500, Document: 3000}

// Dialect implements dialect.Dialect.
type Dialect struct{}

var _ dialect.Dialect = Dialect{}

// Facts implements dialect.Dialect.
func (Dialect) Facts() facts.Facts {
	f, _ := facts.ByName("OpenAI")
	return f
}

// ReadRequest implements dialect.Dialect.
func (Dialect) ReadRequest(op dialect.Operation, contentType string, body []byte) dialect.Request {
	if !op.Metered {
		return dialect.Request{}
	}
	return request.ReadAs(op, contentType, body, Costs)
}

// InjectUsage implements dialect.Dialect. The responses API reports usage by itself and refuses the option;
// embeddings are no streams.
func (Dialect) InjectUsage(op dialect.Operation, body []byte) (dialect.Splice, bool) {
	if op.Name != chat && op.Name != completions || op.Format != "" && op.Format != dialect.FormatChat {
		return dialect.Splice{}, false
	}
	return request.InjectUsage(body)
}

// ReadHeaders implements dialect.Dialect.
func (Dialect) ReadHeaders(status int, h http.Header, received time.Time) dialect.Reading {
	r := guidance.Read(status, h, received, Buckets)
	Days(r.Budgets)
	return r
}

// NewMeter implements dialect.Dialect.
func (Dialect) NewMeter(op dialect.Operation, h http.Header, opts dialect.MeterOptions) dialect.Meter {
	return meter.New(op, h, opts, classifyEvent)
}

// SetCredential implements dialect.Dialect.
func (Dialect) SetCredential(h http.Header, query, key string) string {
	credential.Replace(h, "Authorization", "Bearer "+credential.Clean(key))
	return query
}

// Fingerprint implements dialect.Dialect.
func (Dialect) Fingerprint(h http.Header, _ string) uint64 { return credential.Fingerprint(h, "") }

// Refusal implements dialect.Dialect.
func (Dialect) Refusal(r dialect.Refusal) (int, http.Header, []byte) {
	status := reply.Status(r)
	return status, reply.Headers(r), reply.JSON(refusalBody(status, r.Message))
}

// StreamError implements dialect.Dialect.
func (Dialect) StreamError(op dialect.Operation, f dialect.StreamFailure) []byte {
	return reply.StreamError(op.Format, f)
}
