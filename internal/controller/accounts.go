// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// observeAccounts reads the accounts that the namespace's policies refer to. One that is invalid, for the webhook was
// passed by, counts as absent: nothing of it can be relied on.
func (r *Reconciler) observeAccounts(ctx context.Context, o *observed) error {
	o.accounts = map[string]policy.Account{}
	for i := range o.policies {
		for _, name := range policy.Accounts(&o.policies[i]) {
			if slices.Contains(o.accountRefs, name) {
				continue
			}
			o.accountRefs = append(o.accountRefs, name)
			var a v1alpha1.ProviderAccount
			switch err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &a); {
			case apierrors.IsNotFound(err) || meta.IsNoMatchError(err): // there is none, or their type is not served
			case err != nil:
				return fmt.Errorf("get ProviderAccount %s: %w", name, err)
			case usable(&a):
				account := policy.AccountFor(&a, o.namespace, o.labels)
				account.MaxGateways = r.accounts.gateways(&a, o.plan)
				o.accounts[name] = account
			}
		}
	}
	return nil
}

func usable(a *v1alpha1.ProviderAccount) bool {
	return a.DeletionTimestamp.IsZero() && len(policy.ValidateAccount(a)) == 0
}

// refusedAccounts are those that do not allow the namespace.
func (o *observed) refusedAccounts() []string {
	var out []string
	for name, a := range o.accounts {
		if !a.Allowed {
			out = append(out, name)
		}
	}
	return out
}

// noteAccounts tells the book what the namespace draws on, and has everybody's plan made anew whose account is divided
// among another number of gateways now.
func (r *Reconciler) noteAccounts(seen *observed, d *decision) {
	for _, name := range r.accounts.put(seen.namespace, &d.plan, seen.accountRefs, seen.refusedAccounts(), r.Now()) {
		r.touched.add(name)
	}
}
