// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// FuzzURL: however the URL of a store is written, no error repeats the password in it, and what is dialled is the host and
// port that it names.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"redis://@store", "rediss://u:@a:6380/3", "redis://u:@[::1]:1", "redis://a/b", "redis://a?addr=b", "%zz", "redis://a:@b@c", "redis://a,b", "redis://a:0/-1"} {
		for _, at := range []int{8, 11, len(seed)} {
			f.Add(seed, at)
		}
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if strings.Contains(text, "c4n4ry") {
			return
		}
		at = min(max(at, 0), len(text))
		if _, err := options(Options{URL: text[:at] + redisserver.Password + text[at:]}); err != nil && strings.Contains(err.Error(), redisserver.Password) {
			t.Errorf("%v", err)
		}
		o, err := options(Options{URL: text})
		if err != nil {
			return
		}
		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%q is no URL, and is taken", text)
		}
		host, port, err := net.SplitHostPort(o.Addr)
		if err != nil || host != u.Hostname() || u.Port() != "" && port != u.Port() || (o.TLSConfig != nil) != (u.Scheme == "rediss") {
			t.Errorf("%q: would dial %q, %v", text, o.Addr, err)
		}
	})
}
