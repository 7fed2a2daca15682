// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import "net/http"

// queryNames are the parameters that providers take keys from, whatever the dialect.
var queryNames = [...]string{
	"key", "api_key", "api-key", "apikey", "access_token", "token", "subscription-key",
}

// Strip removes all that belongs to the account a request was made for, from its headers and from the raw query,
// which it returns: keys, signatures, and what names the account. A request that goes to another host than its
// caller wrote it for must take none of it there.
func Strip(h http.Header, query string) string {
	for _, name := range names {
		delete(h, name)
	}
	for _, name := range accounts {
		delete(h, name)
	}
	return WithoutQuery(WithoutSignature(h, query), queryNames[:]...)
}
