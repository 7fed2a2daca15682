// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"log/slog"
	"net/http"
	"testing"
)

// TestPagesAreTurnedOff: neither 0 nor no address at all listens anywhere, as with the library's own servers of health. Go would take
// the latter for a port of the system's choice on all interfaces. A manager that is asked for nothing need not be there.
func TestPagesAreTurnedOff(t *testing.T) {
	for _, address := range []string{none, ""} {
		if err := addPages(nil, "nothing", address, http.NotFoundHandler(), slog.New(slog.DiscardHandler)); err != nil {
			t.Errorf("pages at %q: %v", address, err)
		}
	}
}
