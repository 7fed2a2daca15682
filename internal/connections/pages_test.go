// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"net"
	"net/http"
	"testing"
)

// TestPagesKeepSoManyConnections: of twice as many as there may be, half are cut as they come, and not when their time is over.
func TestPagesKeepSoManyConnections(t *testing.T) {
	srv := Pages(http.NotFoundHandler(), nil)
	if srv.ConnState == nil {
		t.Fatal("nothing bounds them")
	}
	var all []*end
	for range 2 * MaxPages {
		near, far := net.Pipe()
		e := &end{Conn: far, from: stranger, gone: make(chan struct{})}
		t.Cleanup(func() { _, _ = near.Close(), e.Close() })
		srv.ConnState(e, http.StateNew)
		all = append(all, e)
	}
	for i, e := range all {
		select {
		case <-e.gone:
			if i >= MaxPages {
				t.Errorf("number %d is cut", i)
			}
		default:
			if i < MaxPages {
				t.Errorf("number %d is held", i)
			}
		}
	}
}
