// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"
	"strconv"
	"strings"
)

// headerCount reads the first of the headers that holds a count and nothing else.
func headerCount(into *int64, h http.Header, names ...string) bool {
	for _, name := range names {
		n, err := strconv.ParseUint(strings.TrimSpace(h.Get(name)), 10, 63)
		if err == nil && n <= maxTokens {
			*into = int64(n)
			return true
		}
	}
	return false
}
