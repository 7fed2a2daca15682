// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLaneMatches(t *testing.T) {
	header := http.Header{"X-Kind": {"batch", "slow"}}
	call := Facts{InputTokens: 20_000, Model: "claude-opus-4", Path: "/v1/messages", Header: header.Values}
	tests := map[string]struct {
		lane Lane
		want bool
	}{
		"nothing asked":                {Lane{}, true},
		"as large":                     {Lane{MinInputTokens: 20_000}, true},
		"too small":                    {Lane{MinInputTokens: 20_001}, false},
		"a header's value":             {Lane{Header: &Header{Name: "X-Kind", Value: "batch"}}, true},
		"its second value":             {Lane{Header: &Header{Name: "x-kind", Value: "slow"}}, true},
		"another value":                {Lane{Header: &Header{Name: "X-Kind", Value: "Batch"}}, false},
		"a header of any value":        {Lane{Header: &Header{Name: "X-Kind"}}, true},
		"a header that is not there":   {Lane{Header: &Header{Name: "X-Other"}}, false},
		"a model":                      {Lane{Models: []string{"gpt-*", "*opus*"}}, true},
		"another model":                {Lane{Models: []string{"gpt-*"}}, false},
		"a path":                       {Lane{Paths: []string{"/v1/messages"}}, true},
		"another path":                 {Lane{Paths: []string{"/v1/messages/*"}}, false},
		"all of them":                  {Lane{MinInputTokens: 1, Header: &Header{Name: "X-Kind"}, Models: []string{"*"}, Paths: []string{"/*"}}, true},
		"all but one":                  {Lane{MinInputTokens: 1, Header: &Header{Name: "X-Kind"}, Models: []string{"*"}, Paths: []string{"/v2/*"}}, false},
		"a model, of a call with none": {Lane{Models: []string{"?"}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.lane.Matches(call); got != tc.want {
				t.Errorf("matches: %t, want %t", got, tc.want)
			}
		})
	}
	if (&Lane{Header: &Header{Name: "A"}}).Matches(Facts{}) {
		t.Error("a call without headers has one")
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		glob, s string
		want    bool
	}{
		{"*", "", true},
		{"a*", "a", true},
		{"*a", "ba", true},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "a-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"a*b*b", "ab", false},
		{"**", "x", true},
		{"a", "A", false},
		{"", "", true},
		{"a.c", "abc", false},
		{"[ab]", "a", false},
		{"claude-opus-*", "claude-opus-4-1", true},
		{"claude-opus-*", "claude-sonnet-4-5", false},
		{"*opus*", "claude-opus-4", true},
		{"*-mini", "gpt-4o-mini", true},
		{"gpt-4o", "gpt-4o-mini", false},
	}
	for _, tc := range tests {
		if got := Glob(tc.glob, tc.s); got != tc.want {
			t.Errorf("Glob(%q, %q) = %t", tc.glob, tc.s, got)
		}
	}
}

// A glob is the regular expression that it stands for, and comparing takes nothing from the heap: each call does it for each limit.
func TestGlobsAreExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob, s := rapid.StringMatching(`[ab*]{0,6}`).Draw(t, "glob"), rapid.StringMatching(`[ab]{0,8}`).Draw(t, "s")
		want := regexp.MustCompile("^" + strings.ReplaceAll(glob, "*", ".*") + "$").MatchString(s)
		if got := Glob(glob, s); got != want {
			t.Fatalf("Glob(%q, %q) = %t", glob, s, got)
		}
	})
	if n := testing.AllocsPerRun(100, func() { Glob("claude-*-4*", "claude-opus-4-1") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func drawLane(t *rapid.T, name string) Lane {
	globs := rapid.SliceOfN(rapid.StringMatching(`[ab*]{1,3}`), 0, 2)
	l := Lane{
		MinInputTokens: rapid.Int64Range(0, 2).Draw(t, name+" min"),
		Models:         globs.Draw(t, name+" models"), Paths: globs.Draw(t, name+" paths"),
	}
	if rapid.Bool().Draw(t, name+" has a header") {
		l.Header = &Header{
			Name:  rapid.SampledFrom([]string{"X", "x", "Y"}).Draw(t, name+" header"),
			Value: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, name+" value"),
		}
	}
	return l
}

// What is said to be covered never gets a call: a lane that covers another takes all that the other takes.
func TestALaneThatCoversAnotherTakesAllItsCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wide, narrow := drawLane(t, "wide"), drawLane(t, "narrow")
		values := rapid.SampledFrom([]http.Header{{}, {"X": {"1"}}, {"X": {"2"}, "Y": {"1"}}}).Draw(t, "header")
		call := Facts{
			InputTokens: rapid.Int64Range(0, 2).Draw(t, "tokens"), Header: values.Values,
			Model: rapid.StringMatching(`[ab]{0,4}`).Draw(t, "model"), Path: rapid.StringMatching(`[ab]{0,4}`).Draw(t, "path"),
		}
		if wide.Covers(&narrow) && narrow.Matches(call) && !wide.Matches(call) {
			t.Fatalf("%+v is said to cover %+v and does not take %+v", wide, narrow, call)
		}
		if all := (Lane{}); !all.Covers(&wide) || !wide.Covers(&wide) {
			t.Fatal("a lane that asks for nothing covers all, and each covers itself")
		}
	})
}
