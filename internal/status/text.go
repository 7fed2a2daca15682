// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// truncate cuts s to at most n bytes, at a rune's edge, and marks the cut.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	return strings.ToValidUTF8(s[:n-len(mark)], "") + mark
}

// count writes n and the noun's plural where there is one.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// perWindow writes a window as part of a rate: /min.
func perWindow(w v1alpha1.Window) string {
	switch w {
	case v1alpha1.WindowSecond:
		return "/s"
	case v1alpha1.WindowMinute:
		return "/min"
	case v1alpha1.WindowHour:
		return "/h"
	case v1alpha1.WindowDay:
		return "/day"
	}
	return ""
}

// capital makes a sentence of words.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// join leaves out empty parts.
func join(sep string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}
