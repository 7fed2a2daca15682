// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package compatible

import (
	"net/http"
	"strings"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
	"github.com/headgate-dev/headgate/internal/gateway/meter"
)

// Dialect implements dialect.Dialect. Credentials and refusals are OpenAI's.
type Dialect struct {
	openai.Dialect
	Spec Spec
}

var _ dialect.Dialect = Dialect{}

// Facts implements dialect.Dialect.
func (d Dialect) Facts() facts.Facts {
	f, _ := facts.ByName(d.Spec.Name)
	return f
}

// Path implements dialect.Dialect.
func (d Dialect) Path(path string) string {
	if d.Spec.Path != nil {
		return d.Spec.Path(urlpath.Clean(path))
	}
	return urlpath.Versioned(path, d.Spec.Version, d.Spec.Beside...)
}

// Operation implements dialect.Dialect.
func (d Dialect) Operation(method, path string) dialect.Operation {
	rest, model := d.below(strings.TrimSuffix(d.Path(path), "/"))
	op, own := d.Spec.Operations[rest]
	if !own || method != http.MethodPost {
		op = openai.OperationOf(method, rest)
	}
	op.Model = model
	return op
}

func (d Dialect) below(path string) (rest, model string) {
	if d.Spec.Below != nil {
		return d.Spec.Below(path)
	}
	rest, ok := strings.CutPrefix(path, d.Spec.Version+"/")
	if !ok {
		return "", ""
	}
	return rest, ""
}

// ReadRequest implements dialect.Dialect.
func (d Dialect) ReadRequest(op dialect.Operation, contentType string, body []byte) dialect.Request {
	if !op.Metered {
		return dialect.Request{}
	}
	r := request.ReadAs(op, contentType, body, d.Spec.costs())
	r.WantsUsage = r.WantsUsage || r.Stream && (d.Spec.NoUsageOption || op.Format != dialect.FormatChat)
	return r
}

// InjectUsage implements dialect.Dialect.
func (d Dialect) InjectUsage(op dialect.Operation, body []byte) (dialect.Splice, bool) {
	if d.Spec.NoUsageOption {
		return dialect.Splice{}, false
	}
	return d.Dialect.InjectUsage(op, body)
}

// ReadHeaders implements dialect.Dialect.
func (d Dialect) ReadHeaders(status int, h http.Header, received time.Time) dialect.Reading {
	r := guidance.Read(status, h, received, d.Spec.Buckets)
	if d.Spec.Headers != nil {
		d.Spec.Headers(status, h, &r)
	}
	return r
}

// ReadFailure implements dialect.Dialect.
func (d Dialect) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	f := Failed{Status: status, Header: h, Document: document(h, body)}
	if d.Spec.Complete != nil {
		d.Spec.Complete(&f, r)
	}
	f.Budgets = r.Budgets
	out := d.failure(f)
	out.RejectsUsage = failure.RejectsUsage(status, f.Document)
	hint, hinted := f.Document.Longest(d.Spec.hint(f, r.Reference))
	guidance.Settle(r, out.Class, hint, hinted)
	return out
}

// failure is what f is; only a refusal for want of budget names one.
func (d Dialect) failure(f Failed) dialect.Failure {
	out := failure.New(d.Spec.classify(f), f.Document)
	if out.Class == dialect.ClassThrottle || out.Class == dialect.ClassQuota {
		out.Budget = d.Spec.budget(f)
	}
	return out
}

// NewMeter implements dialect.Dialect.
func (d Dialect) NewMeter(op dialect.Operation, h http.Header, opts dialect.MeterOptions) dialect.Meter {
	opts.StripUsage = opts.StripUsage && !d.Spec.NoUsageOption
	return meter.New(op, h, opts, d.classifyEvent)
}

// classifyEvent classes an error event inside a stream.
func (d Dialect) classifyEvent(event []byte) dialect.Failure {
	doc := document(nil, event)
	f := Failed{Status: eventStatus(doc), Document: doc, InStream: true}
	out := d.failure(f)
	out.RejectsUsage = failure.NamesUsage(doc)
	out.Wait, out.Waits = doc.Longest(d.Spec.hint(f, time.Time{}))
	return out
}
