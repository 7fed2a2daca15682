// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// storedHeaders are what is kept of a deferred request: what gives its body a meaning, the versions and features of
// providers' APIs, the choice of an account, and idempotency keys. All else is left out, and with it every
// credential and cookie, of whatever name.
var storedHeaders = [...]string{
	"Accept", "Content-Type", "Content-Encoding", "Content-Language",
	"Idempotency-Key", "X-Idempotency-Key",
	"Anthropic-Version", "Anthropic-Beta",
	"Openai-Beta", "Openai-Organization", "Openai-Project",
	"X-Goog-User-Project",
	"X-Amzn-Bedrock-Accept", "X-Amzn-Bedrock-Trace", "X-Amzn-Bedrock-Guardrailidentifier",
	"X-Amzn-Bedrock-Guardrailversion", "X-Amzn-Bedrock-Performanceconfig-Latency",
	"X-Github-Api-Version",
}

// storedParameters are what is kept of a query. A call with any other parameter is not deferred: without it the
// call may mean something else, and with it a key may be kept.
var storedParameters = [...]string{"alt", "$alt", "api-version", "beta"}

// credentialParameters of a query are left out: the gateway's own key takes their place.
var credentialParameters = [...]string{"key", "api_key", "api-key", "access_token", "subscription-key"}

const (
	// maxStoredValue bounds a header's line, and maxStoredLines the lines of one header.
	maxStoredValue = 2 << 10
	maxStoredLines = 8
	// maxStoredHeaders bounds them all, and maxStoredPath and maxStoredQuery the rest.
	maxStoredHeaders = 32 << 10
	maxStoredPath    = 4 << 10
	maxStoredQuery   = 1 << 10
)

// storableHeaders are the headers to keep; false where one is too large to be kept.
func storableHeaders(h http.Header) (http.Header, bool) {
	out, size := http.Header{}, 0
	for _, name := range storedHeaders {
		values := h[name]
		if values == nil {
			// A send keeps some under their name in lower case; see upstream.PrepareRequest.
			values = h[strings.ToLower(name)]
		}
		if len(values) > maxStoredLines || slices.ContainsFunc(values, unstorable) {
			return nil, false
		}
		if len(values) > 0 {
			out[name] = slices.Clone(values)
		}
		for _, v := range values {
			size += len(v)
		}
	}
	return out, size <= maxStoredHeaders
}

// unstorable values are too long, or would not come back as they are.
func unstorable(v string) bool { return len(v) > maxStoredValue || !utf8.ValidString(v) }

// storableQuery is the query to keep; false where it cannot be.
func storableQuery(raw string) (string, bool) {
	if len(raw) > maxStoredQuery {
		return "", false
	}
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		switch {
		case err != nil:
			return "", false
		case part == "" || slices.Contains(credentialParameters[:], plain):
		case slices.Contains(storedParameters[:], plain):
			kept = append(kept, part)
		default:
			return "", false
		}
	}
	return strings.Join(kept, "&"), true
}
