// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/headgate-dev/headgate/internal/gateway/control"
	"github.com/headgate-dev/headgate/internal/gateway/credentials"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/metrics"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/server"
	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// serve runs the gateway until ctx ends and its drain is over.
func serve(ctx context.Context, o *options, log *slog.Logger) error {
	store := credentials.New(o.credentials)
	if _, err := store.Reload(); err != nil {
		log.Error("credentials could not be read", slog.String("error", err.Error()))
	}
	ca, err := readCA(o.caFile)
	if err != nil {
		return err
	}
	transport, err := upstream.NewTransport(upstream.Options{ExtraCA: ca})
	if err != nil {
		return err
	}
	later, err := newPutter(ctx, o, ca, log)
	if err != nil {
		return err
	}
	gateway := proxy.New(proxy.Options{
		Deferrals: later.deferrals(),
		Dialect:   byName, Transport: transport, Credentials: store, Memory: spool.NewBudget(bodyMemory(o.spoolMiB)),
		Log: log, PingEvery: o.ping, Shared: o.plan != "" || o.budgets.url != "", Namespace: o.namespace, Incarnation: o.incarnation,
		Fresh: control.First(o.state, os.Getenv(sidecar.EnvPodUID)),
	})
	c := control.New(control.Options{Gateway: gateway, CA: ca, Trust: later.trust, StateDir: o.state, Log: log}, transport)
	source, err := newSource(o, c, gateway, log)
	if err != nil {
		return err
	}
	shares, err := newSharer(&o.budgets, gateway, c, ca, log)
	if err != nil {
		return err
	}
	w := &watcher{source: source, credentials: store, gateway: gateway, log: log}
	return listen(ctx, o, gateway, c, w, later, shares, log)
}

func byName(name string) (dialect.Dialect, bool) {
	d := registry.ByName(name)
	return d, d != nil
}

func readCA(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	ca, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the file
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", sidecar.FlagCAFile, err)
	}
	return ca, nil
}

// listen opens the ports and runs until the end.
func listen(ctx context.Context, o *options, g *proxy.Gateway, c *control.Control, w *watcher, later *putter, shares *sharer, log *slog.Logger) error {
	s, err := server.Listen(ctx, server.Options{
		Data: g, Admin: admin(ctx, g, shares), DataAddress: o.listen, AdminAddress: o.admin, Busy: g.Busy, Away: g.Away,
		DrainBound: o.drain, Draining: g.EndBy, Log: log,
	})
	if err != nil {
		return err
	}
	log.Info("serving", slog.String("data", s.DataAddr()), slog.String("admin", s.AdminAddr()), slog.String("version", version))
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	pace(background, memoryLimit(), g.Busy)
	go w.run(background)
	done := coordinate(background, o, g, c, log)
	made, shared := later.run(background, ctx, g), shares.run(background)
	err = s.Run(ctx)
	stop()
	<-done
	<-made
	<-shared
	return err
}

// admin serves metrics and health.
func admin(ctx context.Context, g *proxy.Gateway, shares *sharer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(sidecar.MetricsPath, promhttp.HandlerFor(shares.register(metrics.NewRegistry(g)), promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}))
	mux.HandleFunc(sidecar.HealthPath, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc(sidecar.ReadyPath, func(w http.ResponseWriter, _ *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "draining", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	return mux
}
