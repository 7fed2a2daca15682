// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package urlpath

import (
	"slices"
	"strings"
)

// Versioned cleans path and makes it begin with version ("/v1", "/openai/v1") exactly once, however much of it the
// app's base URL carries: all, its first or last part, all of it twice. A path with another version keeps that one,
// and one that begins with a segment that stands beside the versions stays as it is.
func Versioned(path, version string, beside ...string) string {
	path = Clean(path)
	root, last := version[:strings.LastIndexByte(version, '/')], version[strings.LastIndexByte(version, '/')+1:]
	rest, carried := path, false
	head := Head(rest)
	for head != "" && hasSegment(version, head) {
		carried = carried || head == last
		rest = rest[1+len(head):]
		head = Head(rest)
	}
	switch {
	case slices.Contains(beside, head), path == "/":
		return path
	case !carried && IsVersion(head):
		version = root
	}
	if len(path) == len(version)+len(rest) && strings.HasPrefix(path, version) {
		return path
	}
	return version + rest
}

// Head is the first segment of a clean path.
func Head(path string) string {
	if path == "" {
		return ""
	}
	head, _, _ := strings.Cut(path[1:], "/")
	return head
}

func hasSegment(path, segment string) bool {
	for s := range strings.SplitSeq(path[1:], "/") {
		if s == segment {
			return true
		}
	}
	return false
}

// IsVersion reports whether a segment is a version: v1, v2, v1beta.
func IsVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9'
}

// Join puts a provider's path behind the path of its base URL. What both carry stands once: some people write the
// version into the base URL, or all that their provider's example shows, and a path has it always.
func Join(base, path string) string {
	base = strings.TrimRight(base, "/")
	return base + path[max(overlap(base, path), rooted(base, path)):]
}

// overlap is the length of the whole segments that path begins with and base ends in.
func overlap(base, path string) (longest int) {
	for n := 1; n <= min(len(base), len(path)); n++ {
		if (n == len(path) || path[n] == '/') && strings.HasSuffix(base, path[:n]) && n > 1 {
			longest = n
		}
	}
	return longest
}

// maxRoot is how many segments stand before an API's operations at most: openai/v1, and two to spare.
const maxRoot = 4

// rooted is the length of path's own root, up to its version, if base ends in a root that stands for it: in the
// same version at another place (a proxy's /groq/v1 for /openai/v1), or in a deployment.
func rooted(base, path string) int {
	parent, last := base, ""
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		parent, last = base[:i], base[i+1:]
	}
	rest := path
	for range maxRoot {
		head := Head(rest)
		rest = rest[min(1+len(head), len(rest)):]
		switch {
		case !IsVersion(head):
		case head == last, strings.HasSuffix(parent, "/deployments"):
			return len(path) - len(rest)
		default:
			return 0
		}
	}
	return 0
}
