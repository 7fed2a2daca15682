// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package storeurl

import "testing"

func TestIsServer(t *testing.T) {
	for _, good := range [][2]string{{"redis", "6379"}, {"redis", ""}, {"10.0.0.1", "1"}, {"fd00::1", "65535"}, {"redis-0.redis_svc.A", "80"}, {"fe80::1%eth0", "6379"}} {
		if !IsServer(good[0], good[1]) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range [][2]string{
		{"", "6379"},
		{"]", ""},
		{"a b", ""},
		{"a,b", ""},
		{"a/b", ""},
		{"münchen", ""},
		{"a:b", ""},
		{"fe80::1%e]", ""},
		{"fe80::1%é", ""},
		{"redis", "0"},
		{"redis", "65536"},
		{"redis", "-1"},
		{"redis", "+1"},
		{"redis", "http"},
	} {
		if IsServer(bad[0], bad[1]) {
			t.Errorf("%q is taken", bad)
		}
	}
}
