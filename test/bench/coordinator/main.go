// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "coordinator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("coordinator", flag.ContinueOnError)
	file := fs.String("policy", "", "file of RateLimitPolicy objects")
	listen := fs.String("listen", "127.0.0.1:0", "address")
	dir := fs.String("dir", "", "where the gateway's files go")
	if err := fs.Parse(args); err != nil {
		return err
	}
	p, err := compile(*file)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	cert, ca, err := certificate()
	if err != nil {
		return err
	}
	encoded, err := plan.Encode(p)
	if err != nil {
		return err
	}
	server := coordinator.New(coordinator.Options{Reviewer: cluster{}, Pods: cluster{}, Leadership: leader{l.Addr().String()}})
	server.SetPlan(p.Namespace, p.Revision, encoded)
	if err := hand(*dir, encoded, ca); err != nil {
		return err
	}
	return serve(ctx, l, server, cert)
}

// serve serves until ctx ends.
func serve(ctx context.Context, l net.Listener, s *coordinator.Server, cert tls.Certificate) error {
	srv := coordinator.NewHTTPServer(s, func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }) //nolint:contextcheck // a handshake has its connection's own
	srv.ErrorLog = log.New(io.Discard, "", 0)                                                                       // a gateway that ends says so to nobody
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}

// compile makes the plan that the controller would make.
func compile(file string) (plan.Plan, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return plan.Plan{}, err
	}
	objects, err := policy.Read(content)
	if err != nil {
		return plan.Plan{}, err
	}
	p, outcomes := policy.Compile(objects.Policies, policy.Inputs{Namespace: thePod.Namespace, Now: time.Now()})
	var errs []error
	for i := range outcomes {
		for _, e := range outcomes[i].Errors {
			errs = append(errs, e)
		}
	}
	p.Revision = max(p.Revision, 1)
	return p, errors.Join(errs...)
}

// hand writes the files of the gateway's pod, the certificate last.
func hand(dir string, encoded []byte, ca string) error {
	if err := os.MkdirAll(filepath.Join(dir, "plan"), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		return err
	}
	for _, f := range [][2]string{
		{filepath.Join("plan", sidecar.PlanKey), string(encoded)}, {"labels", "app=\"bench\"\n"}, {"token", token}, {"ca.part", ca},
	} {
		if err := os.WriteFile(filepath.Join(dir, f[0]), []byte(f[1]), 0o600); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(dir, "ca.part"), filepath.Join(dir, "ca.pem"))
}
