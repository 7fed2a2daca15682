// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
)

// noQuota are dialects whose providers have no quota that could be spent: only the user's own machines answer.
var noQuota = map[string]bool{"SelfHosted": true}

// TestEveryDialectHasItsFixtures: a file for each, with every kind of thing a provider sends.
func TestEveryDialectHasItsFixtures(t *testing.T) {
	files := fixtureFiles(t)
	for _, f := range facts.All() {
		file, ok := files[f.Name]
		if !ok {
			t.Errorf("%s: no testdata/%s.txtar", f.Name, f.Route)
			continue
		}
		missing := map[string]bool{
			"a metered request": true, "a document with usage": true, "a stream with usage": true, "a stream that broke off": true,
			"a throttle": true, "an exhausted quota": !noQuota[f.Name], "an overload": true, "a permanent failure": true,
		}
		for _, g := range file {
			for _, kind := range g.kinds(t) {
				missing[kind] = false
			}
		}
		for kind, is := range missing {
			if is {
				t.Errorf("%s: testdata/%s.txtar lacks %s", f.Name, f.Route, kind)
			}
		}
	}
}

var kindOfClass = map[string]string{
	"throttle": "a throttle", "quota_exhausted": "an exhausted quota", "overload": "an overload", "permanent": "a permanent failure",
}

// kinds are the demanded kinds that a fixture states something about.
func (f *fixture) kinds(t *testing.T) (kinds []string) {
	t.Helper()
	w := f.want
	if f.Request != nil && w.Request != nil && w.Operation != nil && w.Operation.Metered != nil && *w.Operation.Metered {
		kinds = append(kinds, "a metered request")
	}
	if f.Response == nil {
		return kinds
	}
	if !f.succeeded(t) {
		if w.Response != nil {
			kinds = append(kinds, kindOfClass[w.Response.Class])
		}
		return kinds
	}
	used := w.Usage != nil && w.Usage.Input != nil && *w.Usage.Input >= 0
	switch {
	case !f.isStream(t):
		if used {
			kinds = append(kinds, "a document with usage")
		}
		return kinds
	case used:
		kinds = append(kinds, "a stream with usage")
	}
	if w.Complete != nil && !*w.Complete {
		kinds = append(kinds, "a stream that broke off")
	}
	return kinds
}

// isStream: the response is a stream by its type, or because its request asked for one.
func (f *fixture) isStream(t *testing.T) bool {
	t.Helper()
	for _, op := range f.ops(t) {
		if op.Stream {
			return true
		}
	}
	return f.read(t).Stream
}
