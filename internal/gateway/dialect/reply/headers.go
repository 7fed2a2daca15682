// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package reply

import (
	"net/http"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// The headers of a refusal.
const (
	HeaderReason      = "X-Headgate-Reason"
	HeaderLimit       = "X-Headgate-Limit"
	HeaderShouldRetry = "X-Should-Retry"
)

// Headers returns the headers of a refusal with a JSON body.
func Headers(r dialect.Refusal) http.Header {
	h := http.Header{
		"Content-Type":    {"application/json"},
		"Retry-After":     {strconv.FormatInt(Seconds(r.RetryAfter), 10)},
		HeaderShouldRetry: {"false"},
	}
	if r.Reason != "" {
		h[HeaderReason] = []string{r.Reason}
	}
	if r.Limit != "" {
		h[HeaderLimit] = []string{r.Limit}
	}
	return h
}

// Seconds rounds a wait up to whole seconds, at least one, so that nobody who keeps to it is early.
func Seconds(wait time.Duration) int64 {
	whole := int64(wait / time.Second)
	if wait%time.Second > 0 {
		whole++
	}
	return max(whole, 1)
}

// Status is the refusal's status: 429 or 503.
func Status(r dialect.Refusal) int {
	if r.Status == http.StatusServiceUnavailable {
		return r.Status
	}
	return http.StatusTooManyRequests
}
