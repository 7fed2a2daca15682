// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"net/http"
	"strings"
)

// bodyWords are in the names of headers that hold a sum of the body, with a key or without, as standards and those who
// sign by themselves name them: Content-Digest, Digest, Signature, X-Hub-Signature-256, X-Acme-Hmac.
var bodyWords = [...]string{"Digest", "Signature", "Hmac", "Content-Md5", "Content-Sha256"}

// CoversBody reports whether a header of the request holds a sum of its body, so that a body that changes on its way is
// refused at its end. Schemes of signatures that stand in Authorization cover it too.
func CoversBody(h http.Header) bool {
	scheme, _, _ := strings.Cut(authorization(h), " ")
	if strings.EqualFold(scheme, "Signature") || strings.Contains(strings.ToUpper(scheme), "HMAC") {
		return true
	}
	for name := range h {
		for _, word := range bodyWords {
			if strings.Contains(name, word) {
				return true
			}
		}
	}
	return false
}
