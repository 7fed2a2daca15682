// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"net/http"
	"strings"
	"testing"
)

// TestB6SumsOfABodyAreFound, whoever has made them: a body that was rewritten no longer fits them.
func TestB6SumsOfABodyAreFound(t *testing.T) {
	for header, want := range map[string]bool{
		"Content-Digest: sha-256=:X48E9q==:":                true,
		"Repr-Digest: sha-256=:X48E9q==:":                   true,
		"Digest: SHA-256=X48E9q==":                          true,
		"Content-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==":             true,
		"X-Content-SHA256: 44136fa355b3678a":                true,
		"X-Amz-Content-Sha256: e3b0c442":                    true,
		"Signature: sig1=:LAH8B:":                           true,
		"Signature-Input: sig1=(\"content-digest\")":        true,
		"X-Hub-Signature-256: sha256=7d38":                  true,
		"x-acme-hmac: 7d38":                                 true,
		"Authorization: Signature version=\"1\",keyId=\"\"": true,
		"Authorization: hmac username=\"a\"":                true,
		"Authorization: TC3-HMAC-SHA256 Credential=A":       true,
		"Authorization: AWS4-HMAC-SHA256 Credential=A":      true,
		"Authorization: Bearer hmac":                        false,
		"Authorization: ":                                   false,
		"X-Api-Key: sk-1":                                   false,
		"Content-Type: application/json":                    false,
		"Anthropic-Beta: signature-1":                       false,
	} {
		name, value, _ := strings.Cut(header, ": ")
		h := http.Header{}
		h.Set(name, value)
		if got := CoversBody(h); got != want {
			t.Errorf("%s: %v", header, got)
		}
	}
	if CoversBody(nil) {
		t.Error("no header covers the body")
	}
}
