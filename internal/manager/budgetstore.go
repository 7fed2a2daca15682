// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/budgetstore/loop"
	"github.com/headgate-dev/headgate/internal/budgetstore/redisstore"
	"github.com/headgate-dev/headgate/internal/controller"
	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/wire"
)

// envBudgetPassword holds the password of the budget store where no file does.
const envBudgetPassword = "HEADGATE_BUDGET_STORE_PASSWORD"

// BudgetStoreOptions say where installations share limits. Without a URL each has its own, which needs nothing.
type BudgetStoreOptions struct {
	URL, PasswordFile, CAFile, Name string
}

// AddFlags declares the flags.
func (o *BudgetStoreOptions) AddFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.URL, "budget-store", "", "redis:// or rediss:// URL of the store in which several installations share limits; see docs/budget-store.md")
	fs.StringVar(&o.PasswordFile, "budget-store-password-file", "", "file with its password; default $"+envBudgetPassword)
	fs.StringVar(&o.CAFile, "budget-store-ca-file", "", "PEM certificates that it is trusted by, beside the system's")
	fs.StringVar(&o.Name, "budget-store-name", "", "this installation's name in it; default the UID of its namespace")
}

// Validate says what is wrong, without quoting the URL.
func (o *BudgetStoreOptions) Validate() error {
	if o.URL == "" {
		if o.PasswordFile != "" || o.CAFile != "" || o.Name != "" {
			return errors.New("--budget-store-password-file, --budget-store-ca-file and --budget-store-name are for --budget-store")
		}
		return nil
	}
	if err := redisstore.CheckURL(o.URL); err != nil {
		return fmt.Errorf("--budget-store: %w", err)
	}
	if len(o.Name) > budgetstore.MaxName/2 {
		return fmt.Errorf("--budget-store-name is longer than %d bytes", budgetstore.MaxName/2)
	}
	return nil
}

// open opens the store. It need not answer yet.
func (o *BudgetStoreOptions) open() (*redisstore.Store, error) {
	ro := redisstore.Options{URL: o.URL, PasswordFile: o.PasswordFile}
	if o.PasswordFile == "" {
		ro.Password = os.Getenv(envBudgetPassword)
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("--budget-store-ca-file: %w", err)
		}
		ro.CA = pem
	}
	s, err := redisstore.Open(ro)
	if err != nil {
		return nil, fmt.Errorf("--budget-store: %w", err)
	}
	return s, nil
}

// ledgerOf implements loop.Owner.
type ledgerOf struct{ server *coordinator.Server }

func (l ledgerOf) With(ctx context.Context, do func(l *ledger.Ledger, term uint64, now time.Time)) bool {
	return l.server.With(ctx, do)
}

// addBudgetStore has the leader's pools draw on the store; it does nothing without one.
func (p *parts) addBudgetStore() error {
	o := &p.opts.BudgetStore
	if o.URL == "" {
		return nil
	}
	store, err := o.open()
	if err != nil {
		return err
	}
	name := o.Name
	if name == "" {
		if name, err = p.installation(); err != nil {
			return err
		}
	}
	l := loop.New(loop.Options{Store: store, Owner: ledgerOf{p.coordinator}, Name: "manager/" + name, TTL: wire.LeaseTTL, Log: p.log})
	p.storeLost = l.Lost
	return errors.Join(metrics.Registry.Register(l), p.mgr.Add(everywhere(func(ctx context.Context) error {
		l.Run(ctx)
		return store.Close()
	})))
}

// store is what status says of the budget store: nil without one.
func (p *parts) store() controller.Store {
	if p.storeLost == nil {
		return nil
	}
	return controller.StoreFunc(p.storeLost)
}
