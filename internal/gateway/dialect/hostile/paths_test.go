// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"net/url"
	"strings"
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// FuzzPaths: whatever a path is, every dialect's version of it stays on its host and below its base, and is what it
// is of itself.
func FuzzPaths(f *testing.F) {
	for _, path := range []string{
		"", "/", "//e.example/%2e%2e", "/v1?x#y", "/base", "/base/v1", "/chat/completions", "/v1/v1/chat/completions",
		"/openai", "/openai/openai/v1", "/openai/v1/openai/chat", "/openai/deployments", "/openai/deployments/a%2Fb/embeddings",
		"/deployments//x", "/models/chat/completions", "/anthropic", "/anthropic/messages", "/beta/v1", "/v1/beta/x",
		"/inference/v1/messages", "/v1/accounts/x", "/api/v1/api", "/orgs", "/orgs/", "/orgs//x", "/orgs/o/inference/inference",
		"/catalog/models", "/hf-inference/models/o/m/v1/chat/completions", "/v2/chat", "/v1beta/models/m:generateContent",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for _, fact := range facts.All() {
			d := registry.ByName(fact.Name)
			got := d.Path(path)
			if again := d.Path(got); again != got {
				t.Errorf("%s %q: %q, then %q", fact.Name, path, got, again)
			}
			u, err := url.Parse(urlpath.Join("https://api.example/base", got))
			if err != nil {
				t.Fatalf("%s %q: %v", fact.Name, path, err)
			}
			if u.Host != "api.example" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || !below(u.EscapedPath(), "/base") {
				t.Errorf("%s %q leads to %s", fact.Name, path, u)
			}
			d.Operation("POST", path)
		}
	})
}

func below(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if s := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); s == "." || s == ".." {
			return false
		}
	}
	return true
}
