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

// path leaves OpenAI's API where the app found it, and puts Anthropic's where it is.
func path(path string) string {
	rest, hasVersion := path, false
	for {
		switch head := "/" + urlpath.Head(rest); {
		case head == version:
			rest, hasVersion = rest[len(head):], true
			continue
		case head == anthropic, urlpath.Head(rest) == "messages":
			return anthropic + urlpath.Versioned(strings.TrimPrefix(rest, anthropic), version)
		case head == beta:
			return beta + strings.TrimPrefix(urlpath.Versioned(strings.TrimPrefix(rest, beta), version), version)
		case hasVersion:
			return version + rest
		}
		return rest
	}
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
