// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package githubmodels

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

const (
	root    = "/inference"
	version = "/v1"
)

// path puts calls below /inference, once, also an organisation's (/orgs/ORG/inference/…). There is no version, but
// the base URLs of apps written for OpenAI end in one.
func path(path string) string {
	before, rest := organisation(path)
	for head := urlpath.Head(rest); ; head = urlpath.Head(rest) {
		switch head {
		case root[1:], version[1:]:
			rest = rest[1+len(head):]
		case "catalog", "":
			return path
		default:
			return before + root + rest
		}
	}
}

// organisation cuts /orgs/ORG off a path, if it begins so.
func organisation(path string) (before, rest string) {
	const orgs = "/orgs"
	if urlpath.Head(path) != orgs[1:] {
		return "", path
	}
	name := urlpath.Head(path[len(orgs):])
	if name == "" {
		return "", ""
	}
	before = path[:len(orgs)+1+len(name)]
	return before, path[len(before):]
}

// below is what lies below /inference, or in the catalogue.
func below(path string) (rest, model string) {
	if rest, ok := strings.CutPrefix(path, "/catalog/"); ok {
		return rest, ""
	}
	_, rest, _ = strings.Cut(path, root+"/")
	return rest, ""
}
