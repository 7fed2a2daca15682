// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"strings"
	"testing"
)

// TestBudgetStoreFlags: what is wrong is said, never with the URL, which may hold a password.
func TestBudgetStoreFlags(t *testing.T) {
	for name, c := range map[string]struct {
		o    BudgetStoreOptions
		want string
	}{
		"none":              {BudgetStoreOptions{}, ""},
		"one server":        {BudgetStoreOptions{URL: "rediss://headgate@redis.platform.svc:6379/2", PasswordFile: "/p", CAFile: "/ca", Name: "east"}, ""},
		"sentinels":         {BudgetStoreOptions{URL: "redis://a:26379,b:26379/0?sentinel=primary&prefix=prod"}, ""},
		"a cluster":         {BudgetStoreOptions{URL: "redis://a,b,c?cluster=true"}, ""},
		"no store":          {BudgetStoreOptions{PasswordFile: "/p"}, "are for --budget-store"},
		"several servers":   {BudgetStoreOptions{URL: "redis://u:c4n4ryKey-secret-of-the-store@a,b"}, "say sentinel=NAME or cluster=true"},
		"another scheme":    {BudgetStoreOptions{URL: "http://u:c4n4ryKey-secret-of-the-store@a"}, "--budget-store: the URL"},
		"a name of a novel": {BudgetStoreOptions{URL: "redis://a", Name: strings.Repeat("x", 300)}, "--budget-store-name is longer"},
	} {
		err := c.o.Validate()
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "c4n4ryKey-secret-of-the-store")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&BudgetStoreOptions{URL: "redis://a", CAFile: "/not-there"}).open(); err == nil || !strings.Contains(err.Error(), "--budget-store-ca-file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
