// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// ReadFailure implements dialect.Dialect.
func (Dialect) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	d := failure.Read(h, body)
	f := failure.New(classify(status, d), d)
	if f.Class == dialect.ClassThrottle && failure.AtOnce(d) {
		f.Budget = plan.InFlight
	}
	f.RejectsUsage = failure.RejectsUsage(status, d)
	wait, waits := d.Longest(hint(d))
	guidance.Settle(r, f.Class, wait, waits)
	return f
}

func hint(d failure.Document) (wait time.Duration, ok bool) {
	return d.Advice()
}

// classifyEvent classes an error event inside a stream: what is not known to be final may pass by itself.
func classifyEvent(document []byte) dialect.Failure {
	d := failure.Read(nil, document)
	f := failure.New(classify(http.StatusInternalServerError, d), d)
	f.RejectsUsage = failure.NamesUsage(d)
	f.Wait, f.Waits = d.Longest(hint(d))
	return f
}

// classify goes by status, but for codes that mean one thing with everyone who sends them.
func classify(status int, d failure.Document) dialect.Class {
	for _, code := range [...]string{d.Code, d.Type} {
		switch code {
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached":
			return dialect.ClassQuota
		case "overloaded_error", "engine_overloaded":
			return dialect.ClassOverload
		case "rate_limit_error", "rate_limit_exceeded":
			if status == http.StatusInternalServerError {
				return dialect.ClassThrottle // an event, which has no status of its own
			}
		}
	}
	return failure.ByStatus(status)
}
