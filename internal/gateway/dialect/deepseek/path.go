// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deepseek

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// The beginnings a path may have. OpenAI's API answers with and without a version, and below /beta.
const (
	version   = "/v1"
	beta      = "/beta"
	anthropic = "/anthropic"
)

// path leaves OpenAI's API where the app found it, and puts Anthropic's where it is. What begins a path stands once.
func path(path string) string {
	rest, begins := path, map[string]bool{}
	head := urlpath.Head(rest)
	for head == version[1:] || head == beta[1:] || head == anthropic[1:] {
		begins["/"+head] = true
		rest = rest[1+len(head):]
		head = urlpath.Head(rest)
	}
	switch {
	case begins[anthropic], head == "messages":
		return anthropic + version + rest
	case begins[beta]:
		return beta + rest
	case begins[version]:
		return version + rest
	}
	return path
}

// below is what lies below any of them.
func below(path string) (rest, model string) {
	for _, beginning := range [...]string{anthropic + version, version, beta} {
		if rest, ok := strings.CutPrefix(path, beginning+"/"); ok {
			return rest, ""
		}
	}
	return strings.TrimPrefix(path, "/"), ""
}
