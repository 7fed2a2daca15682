// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "testing"

func TestWhichAccountARouteDrawsOn(t *testing.T) {
	own := Limit{Name: "requests"}
	tests := map[string]struct {
		route Route
		want  string
	}{
		"none":                   {Route{Limits: []Limit{own}}, ""},
		"one":                    {Route{Account: "acme", Limits: []Limit{own, {Name: "acme:tokens", Account: "acme"}}}, "acme"},
		"one that is watched":    {Route{Limits: []Limit{own, {Name: "acme:tokens", Watch: true}}}, "acme"},
		"one that allows it not": {Route{Limits: []Limit{{Name: "acme:not-allowed"}, own}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.route.AccountName(); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	for name, want := range map[string]string{"acme:tokens": "acme", "tokens": "", "a:b:c": "a"} {
		if got := AccountOf(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}
