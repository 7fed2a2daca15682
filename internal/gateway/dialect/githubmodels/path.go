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
	before, rest := "", path
	if urlpath.Head(path) == "orgs" {
		name := urlpath.Head(path[len("/orgs"):])
		before, rest = path[:len("/orgs/")+len(name)], path[min(len("/orgs/")+len(name), len(path)):]
	}
	for {
		switch head := urlpath.Head(rest); head {
		case root[1:], version[1:]:
			rest = rest[1+len(head):]
			continue
		case "catalog":
			return path
		case "":
			return path
		}
		return before + root + rest
	}
}

// below is what lies below /inference, or in the catalogue.
func below(path string) (rest, model string) {
	if rest, ok := strings.CutPrefix(path, "/catalog/"); ok {
		return rest, ""
	}
	_, rest, _ = strings.Cut(path, root+"/")
	return rest, ""
}
