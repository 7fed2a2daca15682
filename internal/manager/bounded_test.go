// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/headgate-dev/headgate/internal/connections"
)

// adding is a manager that keeps what is added to it.
type adding struct {
	ctrl.Manager
	added []manager.Runnable
}

func (a *adding) Add(r manager.Runnable) error {
	a.added = append(a.added, r)
	return nil
}

// TestPagesOfTheManagerKeepSoManyConnections: more are cut as they come. Strangers end in time without that as well.
func TestPagesOfTheManagerKeepSoManyConnections(t *testing.T) {
	var mgr adding
	if err := addPages(&mgr, "pages", "127.0.0.1:0", http.NotFoundHandler(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	served := mgr.added[0].(*manager.Server)
	defer served.Listener.Close()
	if served.Server.ConnState == nil {
		t.Fatal("nothing bounds them")
	}
	var all []net.Conn
	for range 2 * connections.MaxPages {
		near, far := net.Pipe()
		t.Cleanup(func() { _, _ = near.Close(), far.Close() })
		served.Server.ConnState(far, http.StateNew)
		all = append(all, far)
	}
	cut := 0
	for _, c := range all {
		if c.SetDeadline(time.Time{}) != nil { // it is closed
			cut++
		}
	}
	if cut != connections.MaxPages {
		t.Errorf("%d are cut", cut)
	}
}
