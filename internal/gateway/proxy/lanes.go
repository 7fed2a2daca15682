// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"hash/fnv"
	"net/http"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
	"github.com/headgate-dev/headgate/internal/plan"
)

// lanes are a route's rules, made ready once for each plan, so that no call splits a glob. They mean what
// plan.Lane.Matches means; see its test here.
type lanes struct {
	rules []rule
	// byPath: some rule looks at the path, so that it is worth being made clean.
	byPath bool
}

// rule says which calls belong to a lane, and with whose key they are sent.
type rule struct {
	least         float64
	header, value string // "" asks for no header
	models, paths []glob
	// key is the lane's own, or the route's, and account its fingerprint; "" passes the app's on.
	key     string
	account uint64
}

func lanesOf(r *plan.Route) lanes {
	var out lanes
	for i := range r.Lanes {
		l := &r.Lanes[i]
		one := rule{least: float64(l.MinInputTokens), models: globs(l.Models), key: l.CredentialKey}
		for _, path := range l.Paths {
			one.paths = append(one.paths, globOf(trimmed(path)))
		}
		if l.Header != nil {
			one.header, one.value = http.CanonicalHeaderKey(l.Header.Name), l.Header.Value
		}
		if one.key == "" {
			one.key = r.CredentialKey
		}
		one.account = accountOf(one.key)
		out.rules = append(out.rules, one)
		out.byPath = out.byPath || len(one.paths) > 0
	}
	return out
}

// traits are what rules look at. A path is known by two names, of which one must match: as the app wrote it, and
// as the provider knows it. Both are clean, so that no other spelling of it leads to another lane.
type traits struct {
	input         float64
	model         string
	path, spelled string
	header        http.Header
}

// choose is the index of the first rule that a call satisfies; the last one asks for nothing.
func (l *lanes) choose(f *traits) int {
	for i := range l.rules[:len(l.rules)-1] {
		if l.rules[i].matches(f) {
			return i
		}
	}
	return len(l.rules) - 1
}

func (r *rule) matches(f *traits) bool {
	return f.input >= r.least && r.hasHeader(f.header) && anyGlob(r.models, f.model) &&
		(anyGlob(r.paths, f.path) || anyGlob(r.paths, f.spelled))
}

func (r *rule) hasHeader(h http.Header) bool {
	if r.header == "" {
		return true
	}
	values := h[r.header]
	if r.value == "" {
		return len(values) > 0
	}
	return slices.Contains(values, r.value)
}

// pathsOf are the two names of a call's path, without a slash at their end.
func pathsOf(d dialect.Dialect, rest string) (path, spelled string) {
	return trimmed(d.Path(rest)), trimmed(urlpath.Clean(rest))
}

func trimmed(path string) string {
	if len(path) > 1 {
		return strings.TrimSuffix(path, "/")
	}
	return path
}

// glob is a pattern cut at its stars, which stand for any run of characters.
type glob []string

func globs(patterns []string) []glob {
	out := make([]glob, 0, len(patterns))
	for _, p := range patterns {
		out = append(out, globOf(p))
	}
	return out
}

func globOf(pattern string) glob { return strings.Split(pattern, "*") }

// anyGlob says whether s matches one of the globs; none at all match everything.
func anyGlob(all []glob, s string) bool {
	for _, g := range all {
		if g.matches(s) {
			return true
		}
	}
	return len(all) == 0
}

func (g glob) matches(s string) bool {
	if len(g) == 1 {
		return g[0] == s
	}
	first, last := g[0], g[len(g)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range g[1 : len(g)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// accountOf tells the accounts of the gateway's own keys apart by their names: the gate meters each on its own,
// and an edit of other lanes changes nothing for it.
func accountOf(key string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return max(h.Sum64(), 1)
}
