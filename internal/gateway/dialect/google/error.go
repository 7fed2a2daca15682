// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package google

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
)

const (
	// maxDetails and maxViolations bound what is read of an error; real ones have below eight.
	maxDetails    = 32
	maxViolations = 16
	// maxNesting bounds errors in the details of errors.
	maxNesting = 2
)

// apiError is what an error document of Google's APIs says (google.rpc.Status).
type apiError struct {
	failure.Document
	status int
	// reason is the one of google.rpc.ErrorInfo.
	reason string
	// quotas are the names of the quotas that were exceeded, with their metrics and units.
	quotas []string
	// none: a quota of nothing was exceeded, which no wait cures.
	none bool
	// wait is the longest wait that any part of it gives; waits says that there is one.
	wait  time.Duration
	waits bool
}

func readError(status int, d failure.Document, reference time.Time) *apiError {
	e := &apiError{Document: d, status: status}
	e.details(d.Error.Get("details"), reference, maxNesting)
	if e.hint(guidance.Told(d.Message)); !e.waits {
		e.hint(guidance.Advice(d.Message))
	}
	e.hint(guidance.Hint(d.Message, "reset after ")) // of the very quota that refused
	e.named(d.Message)
	e.none = e.none || saysNone(d.Message)
	return e
}

// hint takes a wait if it is the longest so far.
func (e *apiError) hint(wait time.Duration, ok bool) {
	if ok {
		e.wait, e.waits = max(e.wait, wait), true
	}
}

// details reads the elements by the members they have: not every sender keeps their types.
func (e *apiError) details(list gjson.Result, reference time.Time, nesting int) {
	if !list.IsArray() || nesting == 0 {
		return
	}
	left := maxDetails
	list.ForEach(func(_, v gjson.Result) bool {
		if reason := text(v.Get("reason")); reason != "" {
			e.reason = reason
		}
		e.hint(delay(v.Get("retryDelay")))
		e.metadata(v.Get("metadata"), reference)
		e.violations(v.Get("violations"))
		e.details(v.Get("details"), reference, nesting-1)
		left--
		return left > 0
	})
}

// delay reads a protobuf duration, which some encoders write as an object.
func delay(v gjson.Result) (time.Duration, bool) {
	if !v.IsObject() {
		return guidance.ProtoDuration(text(v))
	}
	whole, ok := guidance.ProtoDuration(number(v.Get("seconds")) + "s")
	part, parts := guidance.GoDuration(number(v.Get("nanos")) + "ns")
	return min(whole, guidance.Longest-time.Second) + part, ok || parts
}

func (e *apiError) metadata(m gjson.Result, reference time.Time) {
	e.hint(guidance.GoDuration(text(m.Get("quotaResetDelay"))))
	e.hint(guidance.Moment(text(m.Get("quotaResetTimeStamp")), reference))
	e.quota(m.Get("quota_limit"), m.Get("quota_metric"), m.Get("quota_unit"))
	e.none = e.none || number(m.Get("quota_limit_value")) == "0"
}

func (e *apiError) violations(list gjson.Result) {
	left := maxViolations
	list.ForEach(func(_, v gjson.Result) bool {
		e.quota(v.Get("quotaId"), v.Get("quotaMetric"))
		e.none = e.none || number(v.Get("quotaValue")) == "0"
		left--
		return left > 0
	})
}

func (e *apiError) quota(names ...gjson.Result) {
	for _, name := range names {
		if name := text(name); name != "" && len(e.quotas) < maxDetails {
			e.quotas = append(e.quotas, name)
		}
	}
}

// named takes the quota that a message names as its metric, where no detail does.
func (e *apiError) named(message string) {
	const phrase = "Quota exceeded for "
	_, rest, found := strings.Cut(message, phrase)
	if name, _, _ := strings.Cut(rest, " "); found && len(e.quotas) == 0 && strings.ContainsRune(name, '/') {
		e.quotas = append(e.quotas, name)
	}
}

// names reports whether a quota's name holds one of parts, in any case and with or without separators.
func (e *apiError) names(parts ...string) bool {
	for _, quota := range e.quotas {
		quota = strings.ReplaceAll(strings.ToLower(quota), "_", "")
		for _, part := range parts {
			if strings.Contains(quota, part) {
				return true
			}
		}
	}
	return false
}

// saysNone finds "limit: 0" that is not the beginning of another number.
func saysNone(message string) bool {
	const none = "limit: 0"
	for {
		i := strings.Index(message, none)
		if i < 0 {
			return false
		}
		message = message[i+len(none):]
		if message == "" || !strings.ContainsRune("0123456789.", rune(message[0])) || endsThere(message) {
			return true
		}
	}
}

// endsThere: the dot ends the sentence.
func endsThere(rest string) bool {
	return rest[0] == '.' && (len(rest) == 1 || rest[1] < '0' || rest[1] > '9')
}

func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// number is a number that may stand in a string, as the long ones of protobuf do.
func number(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw
	}
	return text(v)
}
