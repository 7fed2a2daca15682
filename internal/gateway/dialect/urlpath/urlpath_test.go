// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package urlpath

import (
	"net/url"
	"strings"
	"testing"
)

// TestClean: slashes, dot segments and spellings.
func TestClean(t *testing.T) {
	cases := map[string]string{
		"":                      "/",
		"/":                     "/",
		"v1/models":             "/v1/models",
		"//v1//models":          "/v1/models",
		"/v1/models/":           "/v1/models/",
		"/v1/../../etc":         "/etc",
		"/v1/./a/../b":          "/v1/b",
		"/v1/%2e%2E/admin":      "/admin",
		"/v1/.%2e/admin":        "/admin",
		"/v1/a%2Fb":             "/v1/a%2Fb",
		"/v1/..%2fadmin":        "/v1/..%2fadmin",
		"/v1/%252e%252e/x":      "/v1/%252e%252e/x",
		"/v1/%63hat":            "/v1/chat",
		"/v1/a?b#c":             "/v1/a%3Fb%23c",
		"/v1/a b\\..\\c\n":      "/v1/a%20b%5C..%5Cc%0A",
		"/v1/100%":              "/v1/100%25",
		"///evil.example/x":     "/evil.example/x",
		"/@evil.example":        "/@evil.example",
		"/v1/models/gpt-5:free": "/v1/models/gpt-5:free",
		"/v1/models/m.x/..":     "/v1/models",
	}

	for path, want := range cases {
		if got := Clean(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestVersioned: the version once, whatever the SDK's base URL ends in.
func TestVersioned(t *testing.T) {
	for path, want := range map[string]string{
		"/chat/completions":       "/v1/chat/completions",
		"//chat/completions":      "/v1/chat/completions",
		"/v1/chat/completions":    "/v1/chat/completions",
		"/v1/v1/chat/completions": "/v1/chat/completions",
		"/v2/things":              "/v2/things",
		"/v1beta/things":          "/v1beta/things",
		"/vector_stores":          "/v1/vector_stores",
		"/dashboard/billing":      "/dashboard/billing",
		"/v1":                     "/v1",
		"/v1/v1":                  "/v1",
		"/v1/v10":                 "/v1/v10",
		"/":                       "/",
	} {
		if got := Versioned(path, "/v1", "dashboard"); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestVersionsOfSeveralSegments: however much of one an app's base URL carries, it stands once.
func TestVersionsOfSeveralSegments(t *testing.T) {
	for path, want := range map[string]string{
		"/chat/completions":                     "/openai/v1/chat/completions",
		"/v1/chat/completions":                  "/openai/v1/chat/completions",
		"/openai/chat/completions":              "/openai/v1/chat/completions",
		"/openai/v1/chat/completions":           "/openai/v1/chat/completions",
		"/v1/openai/chat/completions":           "/openai/v1/chat/completions",
		"/openai/v1/v1/chat/completions":        "/openai/v1/chat/completions",
		"/openai/v1/openai/v1/chat/completions": "/openai/v1/chat/completions",
		"/openai/v2/things":                     "/openai/v2/things",
		"/v2/things":                            "/openai/v2/things",
		"/openai/v1/v10":                        "/openai/v1/v10",
		"/openaix/v1":                           "/openai/v1/openaix/v1",
		"/openai":                               "/openai/v1",
		"/openai/v1/":                           "/openai/v1/",
		"/v1/accounts/x":                        "/v1/accounts/x",
		"/":                                     "/",
	} {
		if got := Versioned(path, "/openai/v1", "accounts"); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestJoin: the version once, also where the base URL carries it.
func TestJoin(t *testing.T) {
	cases := []struct{ base, path, want string }{
		{"https://api.example", "/v1/messages", "https://api.example/v1/messages"},
		{"https://api.example/", "/v1/messages", "https://api.example/v1/messages"},
		{"https://gw.example/openai/v1", "/v1/models", "https://gw.example/openai/v1/models"},
		{"https://gw.example/openai/v1/", "/v1", "https://gw.example/openai/v1"},
		{"https://gw.example/v1", "/v2/models", "https://gw.example/v1/v2/models"},
		{"https://gw.example/v1", "/v10/models", "https://gw.example/v1/v10/models"},
		{"", "/v1/models", "/v1/models"},
		{"https://api.example/openai", "/openai/v1/models", "https://api.example/openai/v1/models"},
		{"https://api.example/openai/v1", "/openai/v1/models", "https://api.example/openai/v1/models"},
		{"https://gw.example/groq/v1", "/openai/v1/models", "https://gw.example/groq/v1/models"},
		{"https://gw.example/groq/v2", "/openai/v1/models", "https://gw.example/groq/v2/openai/v1/models"},
		{"https://gw.example/openaix", "/openai/v1/models", "https://gw.example/openaix/openai/v1/models"},
		{"https://gw.example/xopenai", "/openai/v1/models", "https://gw.example/xopenai/openai/v1/models"},
		{"https://api.example/orgs/o/inference", "/inference/chat/completions", "https://api.example/orgs/o/inference/chat/completions"},
		{"https://r.example/openai/deployments/d", "/openai/v1/responses", "https://r.example/openai/deployments/d/responses"},
		{"https://r.example/openai/deployments/d", "/openai/deployments/d/embeddings", "https://r.example/openai/deployments/d/embeddings"},
		{"https://api.example/a/b/c/d/e/v1", "/a/b/c/d/e/v1/x", "https://api.example/a/b/c/d/e/v1/x"},
	}
	for _, tc := range cases {
		if got := Join(tc.base, tc.path); got != tc.want {
			t.Errorf("%s + %s: %s, want %s", tc.base, tc.path, got, tc.want)
		}
	}
}

// FuzzClean: joined to a base URL any path stays on its host and below its path; cleaning twice is cleaning once.
func FuzzClean(f *testing.F) {
	for _, path := range []string{"//evil.example/..", "/%2e%2e/%2F..", "/a?b#c", "@x", "\\\\x", "/..;/x", "%%32%65", "/v1/v1", "/base", "/base/v1", "/openai/v2", "/beside/v1"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for what, clean := range map[string]func(string) string{
			"Clean": Clean, "Versioned": func(p string) string { return Versioned(p, "/v1") },
			"of two segments": func(p string) string { return Versioned(p, "/openai/v1", "beside") },
		} {
			got := clean(path)
			if again := clean(got); again != got {
				t.Errorf("%s %q: %q, then %q", what, path, got, again)
			}
			u, err := url.Parse(Join("https://api.example/base", got))
			if err != nil {
				t.Fatalf("%s %q: %v", what, path, err)
			}
			if u.Host != "api.example" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || !strings.HasPrefix(u.EscapedPath()+"/", "/base/") {
				t.Errorf("%s %q leads to %s", what, path, u)
			}
			for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
				if s := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); s == "." || s == ".." {
					t.Errorf("%s %q keeps a dot segment: %s", what, path, got)
				}
			}
		}
	})
}

// BenchmarkClean: the usual path costs nothing.
func BenchmarkClean(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if Clean("/v1/chat/completions") == "" {
			b.Fatal()
		}
	}
}
