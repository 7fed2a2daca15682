// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"net/url"
	"testing"
)

// TestHostsAreTakenAsTheyAreWritten: an entry is one host, whatever else its writer may have meant or an attacker would have it
// mean; case, a trailing dot and the port of https are the same host's.
func TestHostsAreTakenAsTheyAreWritten(t *testing.T) {
	for _, tc := range []struct {
		entries, url string
		allowed      bool
	}{
		{"API.Example.COM.", "https://api.example.com", true},
		{"api.example.com", "https://API.EXAMPLE.COM./v1", true},
		{"api.example.com:443", "https://api.example.com", true},
		{"api.example.com:443", "https://api.example.com:443", true},
		{"api.example.com:443", "https://api.example.com:8443", false},
		{"api.example.com.:443", "https://api.example.com", false},
		{"[::1]", "https://[::1]:8443", true},
		{"::1", "https://[::1]", true},
		{"[::1]:443", "https://[::1]:8443", false},
		{"::1", "https://[::1%25eth0]", false},
		{"fe80::1", "https://[fe80::1%25eth0]", false},
		{"*", "https://evil.example", false},
		{"*.example.com", "https://api.example.com", false},
		{"*.example.com", "https://a.b.example.com", false},
		{".example.com", "https://api.example.com", false},
		{"example.com", "https://api.example.com", false},
		{"api.example.com", "https://example.com", false},
		{"api.example.com", "https://api.example.com.evil.example", false},
		{"api.example.com", "https://api.example.com@evil.example", false},
		{"api.example.com", "https://api.example.com:x@evil.example:443", false},
		{"api.example.com", "https://evil.example/api.example.com", false},
		{"api.example.com", "https://evil.example?api.example.com", false},
		{"api.example.com", "https://evil.example#api.example.com", false},
		{"api.example.com", "https://api.example.com%2eevil.example", false},
		{"api.example.com", "https://api.example.com\u3002evil.example", false},
		{"https://api.example.com", "https://api.example.com", false},
		{"user@api.example.com", "https://api.example.com", false},
		{"api.example.com/v1", "https://api.example.com/v1", false},
		{"kimi.example", "https://\u212Aimi.example", false},
		{"api.example.com", "https://\u0430pi.example.com", false},
		{"api.example.com", "https://\uff41pi.example.com", false},
		{"127.0.0.1", "https://2130706433", false},
		{"127.0.0.1", "https://0177.0.0.1", false},
		{"127.0.0.1", "https://[::ffff:127.0.0.1]", false},
		{"# api.example.com", "https://api.example.com", false},
		{"", "https://api.example.com", false},
		{".", "https://.", false},
		{":443", "https://:443", false},
		{":443", "https://./v1", false},
		{"[]", "https://[]", false},
	} {
		u, err := url.Parse(tc.url)
		if err != nil {
			continue // no policy has such a URL: the plan is refused
		}
		if got := allows(parseHosts(tc.entries), u); got != tc.allowed {
			t.Errorf("%q, %s: a key goes there: %t", tc.entries, tc.url, got)
		}
	}
}
