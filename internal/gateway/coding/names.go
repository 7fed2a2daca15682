// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"net/http"
	"slices"
	"strings"
)

// most bounds the codings that were applied one after the other. Clients and providers apply one.
const most = 2

// Names are the content codings that headers state, in the order in which they are to be undone; none where that is only
// identity.
func Names(h http.Header) []string {
	var names []string
	for _, line := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" && len(names) <= most {
				names = append(names, strings.TrimPrefix(name, "x-"))
			}
		}
	}
	slices.Reverse(names)
	return names
}

// Readable says that all of the codings are read, and no two of them have windows of megabytes.
func Readable(names []string) bool {
	windows := 0
	for _, name := range names {
		if readers[name] == nil {
			return false
		}
		if windowed(name) {
			windows++
		}
	}
	return len(names) <= most && windows <= 1
}
