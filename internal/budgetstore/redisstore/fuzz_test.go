// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"math"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// FuzzAnswer: whatever stands in a store, its answer is refused in a few words, or has as many lines as were asked for, and
// numbers that can be reckoned with.
func FuzzAnswer(f *testing.F) {
	f.Add("1.5\nx\n3\n2\n1 0\n0\n10 1 2 3 4 -1 5 6\n0 0 0 0 0 -1", 2)
	f.Add("nan\nx\n-1\n1e300\n99999999999999999999 -5\n1\n1e309 0 0 0 0 0", 1)
	f.Add("0\nx\n18446744073709551616\n-9223372036854775809\n"+strings.Repeat("1 ", 1000)+"\n1\n"+strings.Repeat("1 ", 10_000), 1)
	f.Fuzz(func(t *testing.T, text string, lines int) {
		var reply []any
		for part := range strings.SplitSeq(text, "\n") {
			reply = append(reply, part)
		}
		lines = min(max(lines, 0), budgetstore.MaxLines)
		a, err := decode(reply, lines)
		if err != nil {
			if len(err.Error()) > 200*(2+len(text)) {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if a.Drawers < 0 || a.Version > 1<<53 || len(a.Bulks) > budgetstore.MaxVectors || len(a.Lines) != lines {
			t.Errorf("%+v", a)
		}
		finite := func(numbers ...float64) {
			for _, x := range numbers {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%+v", a)
				}
			}
		}
		finite(a.Stamp)
		for i := range a.Lines {
			g := &a.Lines[i]
			finite(g.Total, g.Share, g.Fair, g.Level, g.Outstanding, g.Keep)
			if len(g.Claims) > budgetstore.MaxClaims {
				t.Errorf("%d claims", len(g.Claims))
			}
			for _, c := range g.Claims {
				finite(c.Fair, c.New)
			}
		}
	})
}

// FuzzURL: however a URL is written, no error repeats the password in it, and what is dialled is what it names.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"redis://@store", "rediss://u:@a:6380/3", "redis://u:@[::1]:1,[::2]?cluster=true&prefix=", "redis://:@a,b/1?sentinel=&sentinelAuth=1", "redis://a?prefix={}", "%zz", "redis://a:@b@c"} {
		for _, at := range []int{8, 11, len(seed)} {
			f.Add(seed, at)
		}
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if strings.Contains(text, "c4n4ry") {
			return
		}
		at = min(max(at, 0), len(text))
		secret := text[:at] + redisserver.Password + text[at:]
		if err := CheckURL(secret); err != nil && strings.Contains(err.Error(), redisserver.Password) {
			t.Errorf("%v", err)
		}
		got, err := parse(text)
		if err != nil {
			return
		}
		if len(got.addresses) == 0 || len(got.addresses) > maxServers || got.database < 0 || len(got.prefix) > 64 || got.prefix != "" && !isPrefix(got.prefix) {
			t.Errorf("%q: %+v", text, got)
		}
		for _, address := range got.addresses {
			host, port, err := net.SplitHostPort(address)
			if err != nil || host == "" || port == "" {
				t.Errorf("%q: would dial %q", text, address)
			}
		}
		if u, err := url.Parse(text); err == nil && u.User != nil {
			if password, _ := u.User.Password(); password != got.password {
				t.Errorf("%q: another password", text)
			}
		}
	})
}
