// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/status"
)

// accountMemory is what no status carries.
type accountMemory struct{ learning status.Learning }

// writeAccountStatuses writes the status of each account that is due. It reports whether an account had changed in the
// meantime, which is no error.
func (r *AccountReconciler) writeAccountStatuses(ctx context.Context, accounts []v1alpha1.ProviderAccount) (conflict bool, err error) {
	r.forgetAccounts(accounts)
	budgets, lost := r.budgets(), r.storeLost()
	var errs []error
	for i := range accounts {
		a := &accounts[i]
		if !a.DeletionTimestamp.IsZero() {
			continue
		}
		switch err := r.writeAccountStatus(ctx, a, budgets, lost); {
		case isConflict(err):
			conflict = true
		case client.IgnoreNotFound(err) != nil:
			errs = append(errs, fmt.Errorf("status of ProviderAccount %s: %w", a.Name, err))
		}
	}
	return conflict, errors.Join(errs...)
}

// forgetAccounts drops what is remembered of accounts that are gone.
func (r *AccountReconciler) forgetAccounts(accounts []v1alpha1.ProviderAccount) {
	for name := range r.learning {
		if !slices.ContainsFunc(accounts, func(a v1alpha1.ProviderAccount) bool { return a.Name == name }) {
			delete(r.learning, name)
		}
	}
}

func (r *AccountReconciler) writeAccountStatus(ctx context.Context, a *v1alpha1.ProviderAccount, budgets ledger.Figures, lost time.Time) error {
	now := r.Now()
	in := r.accountInputs(a, budgets, lost)
	memory := r.learning[a.Name]
	if memory == nil {
		memory = &accountMemory{}
		r.learning[a.Name] = memory
	}
	in.Learned = memory.learning.Take(in, keptLimits(a), now)
	built := status.BuildAccount(in, a.Status, now)
	if !status.DueAccount(a.Status, built, now) {
		return nil
	}
	changed := a.DeepCopy()
	changed.Status = built.Status
	patch, err := statusPatch(a, a.Status.Summary.FiguresAt, &changed.Status)
	if err != nil {
		return err
	}
	if err := r.Client.Status().Patch(ctx, changed, patch, client.FieldOwner(FieldOwner)); err != nil {
		return err
	}
	for _, e := range built.Events {
		r.Recorder.Eventf(a, nil, corev1.EventTypeWarning, e.Reason, "Report", "%s", e.Message)
	}
	return nil
}

// keptLimits are the learned limits that the status has.
func keptLimits(a *v1alpha1.ProviderAccount) map[string]int64 {
	out := map[string]int64{}
	for _, l := range a.Status.Limits {
		if l.Source == v1alpha1.LimitLearned && l.Value > 0 {
			out[l.Name] = l.Value
		}
	}
	return out
}

func (r *AccountReconciler) accountInputs(a *v1alpha1.ProviderAccount, budgets ledger.Figures, lost time.Time) status.AccountInputs {
	shared, known := budgets.Accounts[a.Name]
	in := status.AccountInputs{
		Name: a.Name, Generation: a.Generation, Declared: len(a.Spec.Limits) > 0,
		Budgets: shared, Shared: known, StoreLost: lost, Young: r.Now().Sub(r.started) < learning,
		Guaranteed: map[string]int32{},
	}
	if errs := policy.ValidateAccount(a); len(errs) > 0 {
		in.Problems = problemsIn(errs)
		return in
	}
	in.Limits = policy.AccountLimits(a)
	if !in.Declared {
		in.Watched = policy.Watched(string(a.Spec.Dialect))
	}
	for _, t := range policy.Tenants(a) {
		in.Guaranteed[t.Namespace] = t.GuaranteedPercent
	}
	r.addUsers(&in)
	return in
}

// addUsers adds the policies that draw on the account, with what their gateways report.
func (r *AccountReconciler) addUsers(in *status.AccountInputs) {
	for namespace, users := range r.accounts.users(in.Name) {
		if users.refused {
			in.Refused = append(in.Refused, namespace)
			continue
		}
		reported := map[string]figures.PolicyFigures{}
		for _, u := range users.routes {
			if _, ok := reported[u.policy]; !ok {
				reported[u.policy] = r.Reports.Policy(namespace, u.policy, r.Now())
			}
			in.Routes = append(in.Routes, status.AccountRoute{Namespace: namespace, Policy: u.policy, Compiled: u.route, Figures: reported[u.policy]})
		}
	}
	slices.Sort(in.Refused)
	slices.SortFunc(in.Routes, func(a, b status.AccountRoute) int {
		return strings.Compare(a.Namespace+"/"+a.Policy+"/"+a.Compiled.Name, b.Namespace+"/"+b.Policy+"/"+b.Compiled.Name)
	})
}

// budgets are the coordinator's figures; nothing where there are none.
func (r *Reconciler) budgets() ledger.Figures {
	if r.Budgets == nil {
		return ledger.Figures{}
	}
	return r.Budgets.Budgets()
}

// storeLost is since when the budget store does not answer; zero while it does, or none is used.
func (r *Reconciler) storeLost() time.Time {
	if r.Store == nil {
		return time.Time{}
	}
	since, lost := r.Store.StoreLost()
	if !lost {
		return time.Time{}
	}
	return since
}
