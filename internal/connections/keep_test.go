// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"net"
	"net/http"
	"testing"
)

// TestWithoutALimit: what is kept on a server without one is nothing to it, and twice is as once.
func TestWithoutALimit(t *testing.T) {
	Keep(t.Context())()
	b := newBound(1)
	c, far := net.Pipe()
	defer func() { _, _ = c.Close(), far.Close() }()
	b.see(c, http.StateNew)
	first, second := b.keep(c), b.keep(c)
	first()
	first()
	if b.victim() != nil {
		t.Error("it is kept no more, and one has not let go")
	}
	second()
	if b.victim() == nil {
		t.Error("it is kept, and all have let go")
	}
	b.see(c, http.StateClosed)
	b.keep(c)()
	if len(b.all) != 0 || len(b.hosts) != 0 {
		t.Errorf("%d connections and %d addresses of none", len(b.all), len(b.hosts))
	}
}
