// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzHosts: a key goes to a host only if the file spells that host, whatever else is in the file and the URL.
func FuzzHosts(f *testing.F) {
	f.Add("api.openai.com\n", "https://api.openai.com/v1")
	f.Add("# none\napi.openai.com:8443, [::1] 127.0.0.1", "https://[::1]:443/")
	f.Add("a.example", "https://a.example.evil.example/")
	f.Add("a.example", "https://a.example@evil.example/")
	f.Add("*\n*.example", "https://evil.example/")
	f.Add(".", "https://./")
	f.Fuzz(func(t *testing.T, file, raw string) {
		hosts := parseHosts(file)
		if len(hosts) > maxHosts {
			t.Errorf("%d hosts", len(hosts))
		}
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || !allows(hosts, u) {
			return
		}
		host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
		if host == "" || !strings.Contains(strings.ToLower(file), host) {
			t.Errorf("a key goes to %q, which is not in %q", u.Host, file)
		}
	})
}
