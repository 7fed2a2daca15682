// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package google

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/anthropic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
	"github.com/headgate-dev/headgate/internal/gateway/meter"
)

// Costs are what parts that are not text cost: a picture is cut into tiles of 258 tokens, sound takes 32 tokens a
// second, a video 300, and a page of a document 258.
var Costs = request.Costs{Image: 1500, Audio: 2000, Document: 3000, Video: 18000}

// Dialect is what both dialects have in common; each adds its facts and its paths.
type Dialect struct{}

// ReadRequest implements dialect.Dialect.
func (Dialect) ReadRequest(op dialect.Operation, contentType string, body []byte) dialect.Request {
	if !op.Metered {
		return dialect.Request{}
	}
	r := request.ReadAs(op, contentType, body, Costs)
	if op.Format != dialect.FormatChat {
		r.WantsUsage = r.Stream || op.Stream // its streams report usage by themselves
	}
	return r
}

// InjectUsage implements dialect.Dialect: only OpenAI's API needs to be asked.
func (Dialect) InjectUsage(op dialect.Operation, body []byte) (dialect.Splice, bool) {
	return openai.Dialect{}.InjectUsage(op, body)
}

// ReadHeaders implements dialect.Dialect. Neither API says anything of its budgets.
func (Dialect) ReadHeaders(status int, h http.Header, received time.Time) dialect.Reading {
	return guidance.Read(status, h, received)
}

// ReadFailure implements dialect.Dialect.
func (Dialect) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	d := failure.Read(h, body)
	e := readError(status, d, r.Reference)
	f := e.failure()
	f.RejectsUsage = failure.RejectsUsage(status, d)
	guidance.Settle(r, f.Class, e.wait, e.waits)
	return f
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

// classifyEvent classes an error inside a stream, whose document has the status.
func classifyEvent(document []byte) dialect.Failure {
	e := readError(http.StatusInternalServerError, failure.Read(nil, document), time.Time{})
	f := e.failure()
	f.RejectsUsage = failure.NamesUsage(e.Document)
	f.Wait, f.Waits = e.wait, e.waits
	return f
}
