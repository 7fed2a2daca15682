// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/headgate-dev/headgate/internal/connections"
)

// none is the address of pages that are turned off; no address is none as well.
const none = "0"

// addPages has the manager serve pages from before its caches are filled until it ends. The library's own servers of them take
// what anybody sends for as long as he likes, and wait for him before the lease is given back.
func addPages(mgr ctrl.Manager, name, address string, pages http.Handler, log *slog.Logger) error {
	if address == none || address == "" {
		return nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", name, err)
	}
	return mgr.Add(&manager.Server{
		Name: name, Listener: listener, ShutdownTimeout: ptr.To(drainTime),
		Server: connections.Pages(pages, slog.NewLogLogger(log.Handler(), slog.LevelDebug)),
	})
}

func metricsPages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	return mux
}

// healthPages serve all checks of a kind at once, and each below its name.
func healthPages(alive, ready map[string]healthz.Checker) http.Handler {
	mux := http.NewServeMux()
	for path, checks := range map[string]map[string]healthz.Checker{"/healthz": alive, "/readyz": ready} {
		checks := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		mux.Handle(path, checks)
		mux.Handle(path+"/", checks)
	}
	return mux
}
