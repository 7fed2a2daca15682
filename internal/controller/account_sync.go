// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/policy"
)

// AccountReconciler keeps the coordinator's accounts and their statuses in step. All accounts are one piece of work: the
// coordinator takes them together, and there are few.
type AccountReconciler struct {
	*Reconciler
	// told are the accounts as the coordinator has them, toldOnce says that it has any.
	told     []ledger.Account
	toldOnce bool
	// learning is what is remembered of accounts, by name.
	learning map[string]*accountMemory
}

// NewAccountReconciler returns one that shares what r knows. It has one worker, so it needs no lock.
func NewAccountReconciler(r *Reconciler) *AccountReconciler {
	return &AccountReconciler{Reconciler: r, learning: map[string]*accountMemory{}}
}

// Reconcile keeps all accounts in step, whichever the request names.
func (r *AccountReconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var list v1alpha1.ProviderAccountList
	if err := r.Client.List(ctx, &list); err != nil {
		return reconcile.Result{}, fmt.Errorf("list ProviderAccounts: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.ProviderAccount) int { return strings.Compare(a.Name, b.Name) })
	for _, name := range r.accounts.review(r.Now()) {
		r.touched.add(name)
	}
	if err := r.tell(ctx, list.Items); err != nil {
		return reconcile.Result{}, err
	}
	conflict, err := r.writeAccountStatuses(ctx, list.Items)
	if conflict {
		return reconcile.Result{RequeueAfter: time.Second}, err
	}
	return reconcile.Result{}, err
}

// tell gives the coordinator the accounts there are, if they are not what it has.
func (r *AccountReconciler) tell(ctx context.Context, accounts []v1alpha1.ProviderAccount) error {
	if r.Accounts == nil {
		return nil
	}
	now, err := r.ledgerAccounts(ctx, accounts)
	if err != nil || r.toldOnce && reflect.DeepEqual(now, r.told) {
		return err
	}
	r.told, r.toldOnce = now, true
	// What it is given is its own from then on.
	given, err := r.ledgerAccounts(ctx, accounts)
	if err != nil {
		return err
	}
	r.Accounts.SetAccounts(given)
	return nil
}

func (r *AccountReconciler) ledgerAccounts(ctx context.Context, accounts []v1alpha1.ProviderAccount) ([]ledger.Account, error) {
	var out []ledger.Account
	for i := range accounts {
		a := &accounts[i]
		if !usable(a) {
			continue
		}
		limits := policy.AccountLimits(a)
		if len(limits) == 0 {
			continue
		}
		one := ledger.Account{
			Name: a.Name, Limits: limits, MaxGateways: r.accounts.gateways(a, nil), Outage: outage(r.accounts.users(a.Name)),
		}
		for _, t := range policy.Tenants(a) {
			labels, err := r.namespaceLabels(ctx, t.Namespace)
			if err != nil {
				return nil, err
			}
			// Nothing is kept for a namespace that may not use it.
			if policy.Allows(a, t.Namespace, labels) {
				one.Tenants = append(one.Tenants, ledger.Tenant(t))
			}
		}
		out = append(out, one)
	}
	return out, nil
}

func (r *Reconciler) namespaceLabels(ctx context.Context, name string) (map[string]string, error) {
	var ns corev1.Namespace
	switch err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &ns); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the namespace: %w", err)
	}
	return ns.Labels, nil
}
