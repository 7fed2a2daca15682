// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// metric is the sum of the gateway's series of a name that have all these labels; 0 if there is none yet.
func (r *row) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	status, body := r.Get(r.Admin + "/metrics")
	if status != http.StatusOK {
		t.Fatalf("metrics: %d", status)
	}
	sum := 0.0
	for line := range strings.Lines(body) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || series != name && !strings.HasPrefix(series, name+"{") || !hasAll(series, labels) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		sum += n
	}
	return sum
}

func hasAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
