// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// accounts refuses references to accounts that are not there, do not allow the namespace or do not go with the policy.
// What the cache would refuse is looked at once more in the API server: an account and the policy that refers to it are
// often applied together, and the cache learns of the first a moment later. So is what a cache cannot tell in time, which on
// a busy node fills for long after the start.
func (v *PolicyValidator) accounts(ctx context.Context, p *v1alpha1.RateLimitPolicy) (errs field.ErrorList, err error) {
	names := policy.Accounts(p)
	if len(names) == 0 {
		return nil, nil
	}
	namespace := namespaceOf(ctx, p)
	for _, from := range []client.Reader{v.Reader, v.Live} {
		if from == nil {
			continue
		}
		var accounts map[string]policy.Account
		if accounts, err = readAccounts(ctx, from, namespace, names); err != nil {
			continue
		}
		if errs, _ = policy.ValidateAccounts(p, accounts); len(errs) == 0 {
			return nil, nil
		}
	}
	return errs, err
}

// readAccounts are the accounts of these names as the namespace sees them; those that are not there, or invalid, are left
// out.
func readAccounts(ctx context.Context, from client.Reader, namespace string, names []string) (map[string]policy.Account, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	labels, err := namespaceLabels(ctx, from, namespace)
	if err != nil {
		return nil, err
	}
	out := make(map[string]policy.Account, len(names))
	for _, name := range names {
		var a v1alpha1.ProviderAccount
		switch err := from.Get(ctx, types.NamespacedName{Name: name}, &a); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("get ProviderAccount %s: %w", name, err)
		case len(policy.ValidateAccount(&a)) == 0:
			out[name] = policy.AccountFor(&a, namespace, labels)
		}
	}
	return out, nil
}

// namespaceLabels asks for metadata alone, since that is what the manager's cache of namespaces holds. A namespace that
// is not known has none.
func namespaceLabels(ctx context.Context, from client.Reader, name string) (map[string]string, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := from.Get(ctx, types.NamespacedName{Name: name}, ns); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get the namespace: %w", err)
	}
	return ns.Labels, nil
}
