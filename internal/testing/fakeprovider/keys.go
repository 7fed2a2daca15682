// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"strings"
)

// keyPlaces says where a provider looks for the caller's key. Authorization: Bearer is good with all.
type keyPlaces struct {
	headers []string
	// query names a parameter, "" for none.
	query string
	// signed: requests may be signed with AWS Signature Version 4 instead.
	signed bool
	// optional: calls without a key are answered too, and none is checked.
	optional bool
}

// anyKey is where OpenAI and Anthropic look, who are told apart by more than that.
var anyKey = []string{"X-Api-Key"}

// of finds the caller's key; for a signed request that is the id of the key it was signed with.
func (k keyPlaces) of(r *http.Request) string {
	for _, name := range k.headers {
		if key := r.Header.Get(name); key != "" {
			return key
		}
	}
	if k.query != "" {
		if key := r.URL.Query().Get(k.query); key != "" {
			return key
		}
	}
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "bearer"):
		return strings.TrimSpace(rest)
	case k.signed && scheme == signatureAlgorithm:
		return readSignature(r.Header).keyID
	default:
		return ""
	}
}

// authenticate says what is wrong with the caller's credentials; status is 0 if nothing is.
func (c *call) authenticate(body []byte) (problem string, status int) {
	switch {
	case c.p.keys.optional:
		return "", 0
	case c.p.keys.signed && isSigned(c.r):
		return c.checkSignature(body)
	case c.s.accepts(c.key):
		return "", 0
	}
	return "Incorrect API key provided", http.StatusUnauthorized
}

// accepts says whether an API key is good.
func (s *Server) accepts(key string) bool {
	if len(s.opts.Keys) == 0 {
		return key != "" && !strings.HasPrefix(key, "sk-invalid")
	}
	for _, k := range s.opts.Keys {
		if k == key {
			return true
		}
	}
	return false
}
