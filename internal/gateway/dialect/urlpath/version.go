// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package urlpath

import "strings"

// Versioned cleans path and makes it begin with version ("/v1") exactly once, unless it begins with another
// version or with one of the segments that stand beside the versions.
func Versioned(path, version string, beside ...string) string {
	path = Clean(path)
	for strings.HasPrefix(path, version+version) && endsSegment(path[2*len(version):]) {
		path = path[len(version):]
	}
	head, _, _ := strings.Cut(path[1:], "/")
	if head == "" || isVersion(head) {
		return path
	}
	for _, b := range beside {
		if head == b {
			return path
		}
	}
	return version + path
}

func endsSegment(rest string) bool { return rest == "" || rest[0] == '/' }

// isVersion: v1, v2, v1beta.
func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9'
}

// Join puts a provider's path behind the path of its base URL. Where both carry the version ("/v1") it
// stands once: some people write it into the base URL, and SDKs always send it.
func Join(base, path string) string {
	base = strings.TrimRight(base, "/")
	last := base[strings.LastIndexByte(base, '/')+1:]
	if isVersion(last) && strings.HasPrefix(path, "/"+last) && endsSegment(path[1+len(last):]) {
		path = path[1+len(last):]
	}
	return base + path
}
