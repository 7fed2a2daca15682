// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"net/http"
	"testing"
)

// TestReplaceLeavesOneCredential: whatever the app sent.
func TestReplaceLeavesOneCredential(t *testing.T) {
	h := http.Header{"Content-Type": {"application/json"}}
	for _, n := range names {
		h[n] = []string{"the app's", "again"}
	}
	Replace(h, "X-Api-Key", Clean(" key\n"))
	if len(h) != 2 || h.Get("X-Api-Key") != "key" || h.Get("Content-Type") == "" {
		t.Errorf("%v", h)
	}
}

// TestFingerprint: one for each account, none without credentials.
func TestFingerprint(t *testing.T) {
	seen := map[uint64]string{}
	for name, h := range map[string]http.Header{
		"bearer a":               {"Authorization": {"Bearer a"}},
		"bearer b":               {"Authorization": {"Bearer b"}},
		"key a":                  {"X-Api-Key": {"Bearer a"}},
		"a of an organization":   {"Authorization": {"Bearer a"}, "Openai-Organization": {"o"}},
		"a of a project":         {"Authorization": {"Bearer a"}, "Openai-Project": {"o"}},
		"both":                   {"Authorization": {"Bearer a"}, "X-Api-Key": {"b"}},
		"both, the other way":    {"Authorization": {"Bearer ab"}, "X-Api-Key": {""}},
		"a key longer than 1 KB": {"Authorization": {string(make([]byte, 4096))}},
	} {
		got := Fingerprint(h, "")
		if other, dup := seen[got]; dup || got == 0 {
			t.Errorf("%s: %d, like %q", name, got, other)
		}
		if again := Fingerprint(h.Clone(), ""); again != got {
			t.Errorf("%s: not stable", name)
		}
		seen[got] = name
	}
	if got := Fingerprint(http.Header{"Openai-Organization": {"o"}, "Cookie": {"c"}}, ""); got != 0 {
		t.Errorf("without credentials: %d", got)
	}
}

// BenchmarkFingerprint is paid by each call that brings its own key.
func BenchmarkFingerprint(b *testing.B) {
	h := http.Header{"Authorization": {"Bearer sk-proj-0123456789012345678901234567890123456789"}}
	b.ReportAllocs()
	for b.Loop() {
		if Fingerprint(h, "") == 0 {
			b.Fatal()
		}
	}
}

// TestQueryCredentials: a key in the query is a credential, however its name is escaped, and goes as a whole.
func TestQueryCredentials(t *testing.T) {
	for query, want := range map[string]string{
		"":                            "",
		"alt=sse":                     "alt=sse",
		"key=secret":                  "",
		"alt=sse&key=secret&x=%20":    "alt=sse&x=%20",
		"%6bey=secret&a=1&key=s2&key": "a=1",
		"monkey=1&keys=2":             "monkey=1&keys=2",
	} {
		if got := WithoutQuery(query, "key"); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
		if got := Fingerprint(nil, query, "key"); (got != 0) != (want != query) {
			t.Errorf("%q: fingerprint %d", query, got)
		}
	}
	if Fingerprint(nil, "key=a", "key") == Fingerprint(nil, "key=b", "key") || Fingerprint(nil, "key=a") != 0 {
		t.Error("accounts are not told apart")
	}
}
