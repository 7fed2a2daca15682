// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
)

// A signature of AWS (SigV4 and SigV4a) covers the method, the host, the path, the query, some headers and the
// body. Whatever of these a proxy changes makes it void, and only who holds the secret key can make a new one.
const signatureScheme = "AWS4-"

// signatureParameters are those of a signature in the query of a presigned URL.
var signatureParameters = [...]string{
	"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders", "X-Amz-Signature",
	"X-Amz-Security-Token",
}

// signatureHeaders are those that a signature brings with it, besides Authorization.
var signatureHeaders = [...]string{"X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256", "X-Amz-Region-Set"}

// Signed reports whether a request is signed, by its headers or in its raw query: such a request must pass with its
// path, its query, its body and the headers that Covers names as they are.
func Signed(h http.Header, query string) bool {
	return strings.HasPrefix(authorization(h), signatureScheme) || signatureParameter(query, "X-Amz-Signature") != ""
}

// Covers reports whether the signature of a request covers the header name.
func Covers(h http.Header, query, name string) bool {
	list := field(authorization(h), "SignedHeaders=")
	if !strings.HasPrefix(authorization(h), signatureScheme) {
		list = signatureParameter(query, "X-Amz-SignedHeaders")
		list = strings.NewReplacer("%3B", ";", "%3b", ";").Replace(list)
	}
	return slices.ContainsFunc(strings.Split(list, ";"), func(n string) bool { return strings.EqualFold(n, name) })
}

// SignerOf tells apart the access keys behind signatures; 0 where a request has none. Each signature is another one,
// but the key's name in it stays, for as long as the key lives: keys of a role change within hours.
func SignerOf(h http.Header, query string) uint64 {
	scope := field(authorization(h), "Credential=")
	if !strings.HasPrefix(authorization(h), signatureScheme) {
		scope = strings.NewReplacer("%2F", "/", "%2f", "/").Replace(signatureParameter(query, "X-Amz-Credential"))
	}
	key, _, _ := strings.Cut(scope, "/")
	if key == "" {
		return 0
	}
	sum := sha256.Sum256(append(append([]byte(nil), secret[:]...), key...))
	return max(binary.LittleEndian.Uint64(sum[:]), 1)
}

// WithoutSignature removes what a signature brings with it from the headers, except Authorization, and from the raw
// query, which it returns.
func WithoutSignature(h http.Header, query string) string {
	for _, name := range signatureHeaders {
		delete(h, name)
	}
	return WithoutQuery(query, signatureParameters[:]...)
}

func authorization(h http.Header) string {
	if lines := h["Authorization"]; len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// field is the value behind name in a list whose elements end with a comma or a space.
func field(list, name string) string {
	i := strings.Index(list, name)
	if i < 0 {
		return ""
	}
	value := list[i+len(name):]
	if end := strings.IndexAny(value, ", "); end >= 0 {
		value = value[:end]
	}
	return value
}

// signatureParameter is the raw value of one parameter; what is not signed costs one look for a prefix.
func signatureParameter(query, name string) string {
	if !strings.Contains(query, "X-Amz-") {
		return ""
	}
	for part := range strings.SplitSeq(query, "&") {
		if value, is := parameter(part, []string{name}); is {
			return value
		}
	}
	return ""
}
