// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"
	"strconv"
	"strings"
)

// headerCount reads a header that holds a count and nothing else.
func headerCount(into *int64, h http.Header, name string) bool {
	text := strings.TrimSpace(h.Get(name))
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return false
	}
	*into = int64(min(n, maxTokens))
	return true
}
