// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package google

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/credential"
)

const (
	// KeyHeader and keyParameter carry an API key.
	KeyHeader    = "X-Goog-Api-Key"
	keyParameter = "key"
	// tokenParameter carries an OAuth token, which some old clients still send.
	tokenParameter = "access_token"
)

// SetCredential implements dialect.Dialect. An OAuth token goes where it alone is taken; all else is an API key,
// which is taken by every path in its own header.
func (Dialect) SetCredential(h http.Header, query, key string) string {
	key = credential.Clean(key)
	if token, is := oauth(key); is {
		credential.Replace(h, "Authorization", "Bearer "+token)
	} else {
		credential.Replace(h, KeyHeader, key)
	}
	return credential.WithoutQuery(query, keyParameter, tokenParameter)
}

// oauth tells tokens from keys: by their prefix, by the dots of signed ones, or by the scheme written before it.
func oauth(key string) (token string, is bool) {
	if token, is = strings.CutPrefix(key, "Bearer "); is {
		return strings.TrimSpace(token), true
	}
	return key, strings.HasPrefix(key, "ya29.") || strings.HasPrefix(key, "eyJ")
}

// Fingerprint implements dialect.Dialect. OAuth tokens live for an hour and say nothing of their account, so with
// each new one the mirror of the provider's budgets starts anew.
func (Dialect) Fingerprint(h http.Header, query string) uint64 {
	return credential.Fingerprint(h, query, keyParameter, tokenParameter)
}
