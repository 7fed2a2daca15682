// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/test/demo/load"
)

const readHeaderTimeout = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == callSubcommand {
		code := callOnce(ctx, os.Args[2:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code) //nolint:gocritic // the deferred stop has just been called
	}
	role := flag.String("role", envOr("DEMO_ROLE", "support"), "what the results are filed under: support, ingest")
	listen := flag.String("listen", ":"+strconv.Itoa(load.Port), "address for the driver")
	flag.Parse()
	if err := serve(ctx, *listen, newApp(ctx, *role, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "app:", err)
		os.Exit(1)
	}
}

func envOr(name, def string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return def
}

func serve(ctx context.Context, address string, a *app) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: a.handler(), ReadHeaderTimeout: readHeaderTimeout}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		a.drain()
		err = server.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
