// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package cohere

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/reply"
	"github.com/headgate-dev/headgate/internal/plan"
)

// ReadFailure implements dialect.Dialect.
func (Dialect) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	d := failure.Read(h, body)
	f := failed(status, d)
	f.RejectsUsage = failure.RejectsUsage(status, d)
	hint, hinted := d.Longest(d.Advice())
	guidance.Settle(r, f.Class, hint, hinted)
	return f
}

// classifyEvent classes the end of a stream that failed, which tells in words alone.
func classifyEvent(document []byte) dialect.Failure {
	d := failure.Read(nil, document)
	if said := d.Error.Get("delta.error").Str; said != "" {
		d.Message = said
	}
	f := failed(http.StatusInternalServerError, d)
	f.Wait, f.Waits = d.Longest(d.Advice())
	return f
}

func failed(status int, d failure.Document) dialect.Failure {
	class := failure.ByStatus(status)
	if class == dialect.ClassThrottle && aMonth(d.Message) {
		class = dialect.ClassQuota
	}
	f := failure.New(class, d)
	f.Budget = budget(class, d.Message)
	return f
}

// aMonth finds the trial key's limit of calls in a month, which the same words tell as a minute's.
func aMonth(message string) bool {
	message = strings.ReplaceAll(strings.ToLower(message), " ", "")
	return strings.Contains(message, "/month") || strings.Contains(message, "permonth") || strings.Contains(message, "monthly")
}

func budget(class dialect.Class, message string) string {
	switch {
	case class != dialect.ClassThrottle && class != dialect.ClassQuota:
	case strings.Contains(message, "token"):
		return plan.Tokens
	case strings.Contains(message, "API calls"), strings.Contains(message, "request limit"):
		return plan.Requests
	}
	return ""
}

type errorBody struct {
	Message string `json:"message"`
}

// Refusal implements dialect.Dialect.
func (Dialect) Refusal(r dialect.Refusal) (int, http.Header, []byte) {
	return reply.Status(r), reply.Headers(r), reply.JSON(errorBody{r.Message})
}

// StreamError implements dialect.Dialect.
func (Dialect) StreamError(op dialect.Operation, f dialect.StreamFailure) []byte {
	return reply.StreamError(op.Format, f)
}
