// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bedrock

import (
	"net/http"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/anthropic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/credential"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
	"github.com/headgate-dev/headgate/internal/gateway/meter"
)

// costs are what parts that are not text cost; the models are many, so they are the largest usual ones.
var costs = request.Costs{Image: 1600, Audio: 2000, Document: 3000}

// Dialect implements dialect.Dialect.
type Dialect struct{}

var _ dialect.Dialect = Dialect{}

// Facts implements dialect.Dialect.
func (Dialect) Facts() facts.Facts {
	f, _ := facts.ByName("Bedrock")
	return f
}

// ReadRequest implements dialect.Dialect.
func (Dialect) ReadRequest(op dialect.Operation, contentType string, body []byte) dialect.Request {
	if !op.Metered {
		return dialect.Request{}
	}
	r := request.ReadAs(op, contentType, body, costs)
	if op.Format != dialect.FormatChat {
		r.WantsUsage = r.Stream || op.Stream // the others report usage by themselves
	}
	return r
}

// InjectUsage implements dialect.Dialect. A signed request must not be asked for: credential.Signed tells.
func (Dialect) InjectUsage(op dialect.Operation, body []byte) (dialect.Splice, bool) {
	return openai.Dialect{}.InjectUsage(op, body)
}

// ReadHeaders implements dialect.Dialect. Bedrock says nothing of its budgets.
func (Dialect) ReadHeaders(status int, h http.Header, received time.Time) dialect.Reading {
	return guidance.Read(status, h, received)
}

// NewMeter implements dialect.Dialect.
func (Dialect) NewMeter(op dialect.Operation, h http.Header, opts dialect.MeterOptions) dialect.Meter {
	opts.StripUsage = opts.StripUsage && op.Format == dialect.FormatChat
	classify := classifyEvent
	if op.Format == dialect.FormatMessages {
		classify = anthropic.ClassifyEvent
	}
	return meter.New(op, h, opts, classify)
}

// SetCredential implements dialect.Dialect: the key is one of Bedrock's own API keys, and takes the place of the
// whole signature.
func (Dialect) SetCredential(h http.Header, query, key string) string {
	query = credential.WithoutSignature(h, query)
	credential.Replace(h, "Authorization", "Bearer "+credential.Clean(key))
	return query
}

// Fingerprint implements dialect.Dialect.
func (Dialect) Fingerprint(h http.Header, query string) uint64 {
	if signer := credential.SignerOf(h, query); signer != 0 {
		return signer
	}
	return credential.Fingerprint(h, "")
}
