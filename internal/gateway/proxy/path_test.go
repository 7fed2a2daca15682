// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

func TestDotSegmentsAreFoundInEverySpelling(t *testing.T) {
	for _, climbing := range []string{
		"/..", "/.", "/a/../b", "/a/./b", "/%2e%2e/", "/.%2E", "/a%2f..%2fb", "/..%5cb", "/a\\..\\b", "/..;x/b", "/%2e%2e;a=b",
		"/%252e%252e/", "/%25252e%25252e/", "/..%252fb", "/%252e%252e%253bx", "/..%00/", "/..%09", "/..%20/b", "/%20../b", "/%01%2e%2e%7f/b",
		"/%c0%ae%c0%ae/", "/%e0%80%ae./", "/%f0%80%80%ae%2e/", "/..%c0%afb", "/..%c1%9cb", "/%ef%bc%8e%ef%bc%8e/", "/..%ef%bc%8fb",
		"/%25zz/%252e%252e/", "/100%25/../b", "/%25%32%65%25%32%65/", "/" + strings.Repeat("%25", 9) + "2525252e",
		"/a%2525252525252541",
	} {
		if !climbs(climbing) {
			t.Errorf("%s does not climb", climbing)
		}
	}
	for _, straight := range []string{
		"/", "", "/v1/models", "/v1/models/gpt-4.1", "/.../", "/..a", "/a..", "/.well-known", "/v1/files/a%2Fb", "/a%252Fb", "/100%25", "/%25zz",
		"/v1beta/models/gemini-2.5-pro:generateContent", "/%e4%b8%ad.txt", "/a%20b", "/%00", "/model/arn%3Aaws%3Abedrock/x",
	} {
		if climbs(straight) {
			t.Errorf("%s climbs", straight)
		}
	}
}

// FuzzClimbs: what is let through leads nowhere else however often, and with whatever left out, it is decoded.
func FuzzClimbs(f *testing.F) {
	for _, seed := range []string{"/v1/models", "/%252e%252e/", "/..;x", "/%c0%ae", "/a%2fb", "/%25%32%65"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u := &url.URL{Path: raw}
		escaped := u.EscapedPath()
		if climbs("/x/" + escaped) {
			return
		}
		for decoded := escaped; ; {
			if clean := path.Clean("/x/" + strings.ReplaceAll(decoded, "\\", "/")); clean != "/x" && !strings.HasPrefix(clean, "/x/") {
				t.Fatalf("%q leads to %q", raw, clean)
			}
			next, err := url.PathUnescape(decoded)
			if err != nil || next == decoded {
				return
			}
			decoded = next
		}
	})
}
