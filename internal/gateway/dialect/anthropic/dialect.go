// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

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

// costs are what parts that are not text cost. A picture is scaled to about 1,600 tokens at most; a page
// of a document takes 1,500 to 3,000.
var costs = request.Costs{Image: 1600, Audio: 1500, Document: 3000}

// Dialect implements dialect.Dialect.
type Dialect struct{}

var _ dialect.Dialect = Dialect{}

// Facts implements dialect.Dialect.
func (Dialect) Facts() facts.Facts {
	f, _ := facts.ByName("Anthropic")
	return f
}

// ReadRequest implements dialect.Dialect.
func (Dialect) ReadRequest(op dialect.Operation, contentType string, body []byte) dialect.Request {
	if !op.Metered {
		return dialect.Request{}
	}
	r := request.ReadAs(op, contentType, body, costs)
	r.WantsUsage = r.Stream // every stream reports it
	return r
}

// InjectUsage implements dialect.Dialect: streams report their usage by themselves.
func (Dialect) InjectUsage(dialect.Operation, []byte) (dialect.Splice, bool) {
	return dialect.Splice{}, false
}

// ReadHeaders implements dialect.Dialect.
func (Dialect) ReadHeaders(status int, h http.Header, received time.Time) dialect.Reading {
	return guidance.Read(status, h, received, buckets, unified(h))
}

// NewMeter implements dialect.Dialect.
func (Dialect) NewMeter(op dialect.Operation, h http.Header, opts dialect.MeterOptions) dialect.Meter {
	opts.StripUsage = false // nothing is injected
	return meter.New(op, h, opts, ClassifyEvent)
}

// SetCredential implements dialect.Dialect.
func (Dialect) SetCredential(h http.Header, query, key string) string {
	credential.Replace(h, "X-Api-Key", credential.Clean(key))
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
