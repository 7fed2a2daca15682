// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package huggingface

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

const version = "/v1"

// versioned are the first segments of paths that lie below the version; others are names of providers
// (/together/v1/…, /hf-inference/models/…), below which every path is that provider's own.
var versioned = map[string]bool{"chat": true, "completions": true, "embeddings": true, "responses": true}

func path(path string) string {
	head := urlpath.Head(path)
	if head == version[1:] || versioned[head] || path == "/models" {
		return urlpath.Versioned(path, version)
	}
	return path
}

// operations are known by the end of a path, whoever serves it; longer ends first.
var operations = [...]string{"chat/completions", "completions", "responses", "embeddings"}

func below(path string) (rest, model string) {
	if rest, ok := strings.CutPrefix(path, version+"/"); ok {
		return rest, ""
	}
	for _, end := range operations {
		if strings.HasSuffix(path, "/"+end) {
			return end, ""
		}
	}
	return "", ""
}
