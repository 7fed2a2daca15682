// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"strconv"
	"strings"
)

// maxLabels bounds the labels of a pod.
const maxLabels = 512

// ParseLabels reads what the downward API writes: key="value" a line, the value quoted. Lines that are
// none are left out.
func ParseLabels(content []byte) map[string]string {
	labels := map[string]string{}
	for line := range strings.Lines(string(content)) {
		key, quoted, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || len(labels) >= maxLabels {
			continue
		}
		if value, err := strconv.Unquote(quoted); err == nil {
			labels[key] = value
		}
	}
	return labels
}
