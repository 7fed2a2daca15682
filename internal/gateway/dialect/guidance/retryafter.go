// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"net/http"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// maxParts bounds what is read of repeated or combined field lines.
const maxParts = 16

// millisHeaders carry milliseconds, in spite of the name of the last.
var millisHeaders = [...]string{"Retry-After-Ms", "X-Ms-Retry-After-Ms", "X-Amz-Retry-After"}

// RetryAfter reads the wait addressed to the call. malformed names the first header that was there and
// could not be read, even if another answered.
func RetryAfter(h http.Header, reference time.Time) (wait time.Duration, source dialect.Source, malformed string) {
	for _, name := range millisHeaders {
		lines := h[name]
		if len(lines) == 0 {
			continue
		}
		if wait, ok := largest(lines, time.Millisecond); ok {
			return wait, dialect.SourceRetryAfterMillis, malformed
		}
		malformed = first(malformed, name)
	}
	lines := h["Retry-After"]
	if len(lines) == 0 {
		return 0, dialect.SourceNone, malformed
	}
	if wait, ok := largest(lines, time.Second); ok {
		return wait, dialect.SourceRetryAfterSeconds, malformed
	}
	if wait, ok := latest(lines, reference); ok {
		return wait, dialect.SourceRetryAfterDate, malformed
	}
	return 0, dialect.SourceNone, first(malformed, "Retry-After")
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// largest is the largest valid number of all lines; a line that is a date is none, and a line that was
// combined from several by a proxy is split at its commas.
func largest(lines []string, unit time.Duration) (wait time.Duration, ok bool) {
	for _, line := range lines[:min(len(lines), maxParts)] {
		for _, text := range strings.SplitN(line, ",", maxParts) {
			if value, valid := decimal(trim(text), unit); valid {
				wait, ok = max(wait, value), true
			}
		}
	}
	return wait, ok
}

// latest is the wait to the latest valid date of all lines; without a reference there is none.
func latest(lines []string, reference time.Time) (wait time.Duration, ok bool) {
	if reference.IsZero() {
		return 0, false
	}
	for _, line := range lines[:min(len(lines), maxParts)] {
		for _, text := range dates(line) {
			if at, valid := httpDate(trim(text), reference); valid {
				wait, ok = max(wait, until(at, reference)), true
			}
		}
	}
	return wait, ok
}

// dates are the texts of a line that may be a date: itself, and, if several were combined, each part and
// each pair of neighbours, for two of the three forms contain a comma.
func dates(line string) []string {
	texts := []string{line}
	parts := strings.SplitN(line, ",", maxParts)
	if len(parts) < 3 {
		return append(texts, parts...)
	}
	for i, part := range parts {
		texts = append(texts, part)
		if i > 0 {
			texts = append(texts, parts[i-1]+","+part)
		}
	}
	return texts
}
