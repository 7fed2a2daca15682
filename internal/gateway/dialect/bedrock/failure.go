// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bedrock

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/anthropic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/plan"
)

const headerErrorType = "X-Amzn-Errortype"

// ReadFailure implements dialect.Dialect.
func (Dialect) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	d := failure.Read(h, body)
	f := failed(status, errorName(h, d), d)
	f.RejectsUsage = failure.RejectsUsage(status, d)
	guidance.Settle(r, f.Class, d.Wait, d.Waits)
	return f
}

// classifyEvent classes an exception inside a stream. Its name is a member, or the only member's own.
func classifyEvent(document []byte) dialect.Failure {
	d := failure.Read(nil, document)
	name := errorName(nil, d)
	if name == "" {
		name = wrapped(&d)
	}
	f := failed(http.StatusInternalServerError, name, d)
	f.RejectsUsage = failure.NamesUsage(d)
	return f
}

// wrapped reads {"throttlingException":{"message":…}}.
func wrapped(d *failure.Document) (name string) {
	d.Error.ForEach(func(key, value gjson.Result) bool {
		if value.IsObject() && strings.HasSuffix(key.Str, "Exception") {
			name, d.Message = key.Str, value.Get("message").Str
			return false
		}
		return true
	})
	return name
}

// errorName is the name of an exception: before the colon of the header, behind the hash of the body's type.
func errorName(h http.Header, d failure.Document) string {
	for _, text := range [...]string{h.Get(headerErrorType), d.Error.Get("__type").Str, d.Code, d.Type} {
		if name := exception(text); name != "" {
			return name
		}
	}
	return ""
}

// exception is a name without its namespace (behind the last hash) and without what follows it (from a colon on).
// The names of a namespace may hold colons themselves.
func exception(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), ":")
	text = text[strings.LastIndexByte(text, '#')+1:]
	if strings.ContainsFunc(text, func(r rune) bool { return !letter(r) }) {
		return ""
	}
	return text
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// classes are those of the exceptions, whose names begin with a small letter in a stream.
var classes = map[string]dialect.Class{
	"throttlingexception": dialect.ClassThrottle, "throttling": dialect.ClassThrottle,
	"toomanyrequestsexception": dialect.ClassThrottle, "requestlimitexceeded": dialect.ClassThrottle,
	"provisionedthroughputexceededexception": dialect.ClassThrottle,

	"servicequotaexceededexception": dialect.ClassQuota,

	"serviceunavailableexception": dialect.ClassOverload, "serviceunavailable": dialect.ClassOverload,

	"modelnotreadyexception": dialect.ClassTransient, "modeltimeoutexception": dialect.ClassTransient,
	"modelerrorexception": dialect.ClassTransient, "modelstreamerrorexception": dialect.ClassTransient,
	"internalserverexception": dialect.ClassTransient, "internalfailure": dialect.ClassTransient,
	"requesttimeout": dialect.ClassTransient, "requesttimeoutexception": dialect.ClassTransient,

	"validationexception": dialect.ClassPermanent, "accessdeniedexception": dialect.ClassPermanent,
	"resourcenotfoundexception": dialect.ClassPermanent, "unrecognizedclientexception": dialect.ClassPermanent,
	"invalidsignatureexception": dialect.ClassPermanent, "expiredtokenexception": dialect.ClassPermanent,
	"incompletesignatureexception": dialect.ClassPermanent, "missingauthenticationtokenexception": dialect.ClassPermanent,
	"unknownoperationexception": dialect.ClassPermanent, "conflictexception": dialect.ClassPermanent,
}

func failed(status int, name string, d failure.Document) dialect.Failure {
	class, known := classes[strings.ToLower(name)]
	switch {
	case known && class == dialect.ClassThrottle && aDay(d.Message):
		class = dialect.ClassQuota // the same name and status; the words alone tell
	case known:
	case anthropic.Knows(d.Type):
		return anthropic.Classified(status, d)
	default:
		class = openai.Classify(status, d)
	}
	if known {
		d.DetailCode = name
	}
	f := failure.New(class, d)
	f.Budget = budget(class, d.Message)
	return f
}

func aDay(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "per day") || strings.Contains(message, "daily")
}

// budget is the budget a refusal names.
func budget(class dialect.Class, message string) string {
	switch {
	case class != dialect.ClassThrottle && class != dialect.ClassQuota:
	case strings.Contains(message, "oo many tokens"):
		return plan.Tokens
	case strings.Contains(message, "oo many requests"):
		return plan.Requests
	}
	return ""
}
