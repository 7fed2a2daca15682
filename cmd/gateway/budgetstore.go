// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/budgetstore/redisstore"
	"github.com/headgate-dev/headgate/internal/gateway/control"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/standalone"
)

// envBudgetPassword holds the password of the budget store where no file does.
const envBudgetPassword = "HEADGATE_BUDGET_STORE_PASSWORD"

// budgetOptions say where gateways without a coordinator share their limits.
type budgetOptions struct {
	url, passwordFile, name string
}

func (o *budgetOptions) addFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.url, "budget-store", "", "redis:// or rediss:// URL of the store in which gateways with --policy share limits; see docs/budget-store.md")
	fs.StringVar(&o.passwordFile, "budget-store-password-file", "", "file with the password of --budget-store; default $"+envBudgetPassword)
	fs.StringVar(&o.name, "budget-store-name", "", "the gateway's name among those that share, the same over restarts; default the host's")
}

func (o *budgetOptions) validate(all *options) error {
	switch {
	case o.url == "" && (o.passwordFile != "" || o.name != ""):
		return errors.New("--budget-store-password-file and --budget-store-name are for --budget-store")
	case o.url == "":
		return nil
	case all.policy == "":
		return errors.New("--budget-store is for gateways with --policy: in a cluster it is a flag of the manager's")
	case len(o.name) > budgetstore.MaxName/2:
		return fmt.Errorf("--budget-store-name is longer than %d bytes", budgetstore.MaxName/2)
	}
	if err := redisstore.CheckURL(o.url); err != nil {
		return fmt.Errorf("--budget-store: %w", err)
	}
	return nil
}

// sharer has the gateway share its limits through a store; a nil one shares nothing.
type sharer struct {
	runner *standalone.Runner
	store  budgetstore.Store
	log    *slog.Logger
}

// newSharer opens the store that the options name; nil without one. It need not answer yet.
func newSharer(o *budgetOptions, g *proxy.Gateway, c *control.Control, ca []byte, log *slog.Logger) (*sharer, error) {
	if o.url == "" {
		return nil, nil
	}
	name := o.name
	if name == "" {
		var err error
		if name, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("--budget-store-name: %w", err)
		}
	}
	ro := redisstore.Options{URL: o.url, PasswordFile: o.passwordFile, CA: ca}
	if o.passwordFile == "" {
		ro.Password = os.Getenv(envBudgetPassword)
	}
	store, err := redisstore.Open(ro)
	if err != nil {
		return nil, fmt.Errorf("--budget-store: %w", err)
	}
	r := standalone.New(standalone.Options{Gateway: g, Plan: c.Current, Store: store, Name: "gateway/" + name, Log: log})
	return &sharer{r, store, log}, nil
}

// run shares until ctx ends; the channel is closed when all was given back.
func (s *sharer) run(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	if s == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		s.runner.Run(ctx)
		if err := s.store.Close(); err != nil {
			s.log.Error("the budget store did not close", slog.String("error", err.Error()))
		}
	}()
	return done
}

// register adds the store's metrics.
func (s *sharer) register(r *prometheus.Registry) *prometheus.Registry {
	if s != nil {
		r.MustRegister(s.runner.Loop())
	}
	return r
}
