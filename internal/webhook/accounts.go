// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// AccountValidator answers requests to create and change accounts.
type AccountValidator struct {
	// Reader reads policies and namespaces from caches.
	Reader client.Reader
}

var _ admission.Validator[*v1alpha1.ProviderAccount] = (*AccountValidator)(nil)

// ValidateCreate refuses what has no meaning.
func (v *AccountValidator) ValidateCreate(_ context.Context, a *v1alpha1.ProviderAccount) (admission.Warnings, error) {
	return validateAccount(a)
}

// ValidateUpdate judges a spec only when it changes, as with policies, and says which policies it takes the account from.
func (v *AccountValidator) ValidateUpdate(ctx context.Context, old, a *v1alpha1.ProviderAccount) (admission.Warnings, error) {
	if a.DeletionTimestamp != nil || equality.Semantic.DeepEqual(old.Spec, a.Spec) {
		return nil, nil
	}
	warnings, err := validateAccount(a)
	if err != nil {
		return warnings, err
	}
	return append(warnings, v.shutOut(ctx, old, a)...), nil
}

// ValidateDelete is never asked: the configuration names no DELETE.
func (v *AccountValidator) ValidateDelete(context.Context, *v1alpha1.ProviderAccount) (admission.Warnings, error) {
	return nil, nil
}

func validateAccount(a *v1alpha1.ProviderAccount) (admission.Warnings, error) {
	if errs := policy.ValidateAccount(a); len(errs) > 0 {
		kind := v1alpha1.GroupVersion.WithKind("ProviderAccount").GroupKind()
		return nil, apierrors.NewInvalid(kind, a.Name, errs)
	}
	return policy.AccountWarnings(a), nil
}

// maxShutOut bounds the namespaces that a warning names.
const maxShutOut = 5

// shutOut warns that policies in force lose the account by this edit. Nothing is said when it cannot be known in time.
func (v *AccountValidator) shutOut(ctx context.Context, old, a *v1alpha1.ProviderAccount) []string {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var policies v1alpha1.RateLimitPolicyList
	if err := v.Reader.List(ctx, &policies, client.UnsafeDisableDeepCopy); err != nil {
		logf.FromContext(ctx).V(1).Info("no advice on policies", "reason", err.Error())
		return nil
	}
	lost := map[string]bool{}
	for i := range policies.Items {
		p := &policies.Items[i]
		if lost[p.Namespace] || !slices.Contains(policy.Accounts(p), a.Name) {
			continue
		}
		labels, err := namespaceLabels(ctx, v.Reader, p.Namespace)
		if err == nil && policy.Allows(old, p.Namespace, labels) && !policy.Allows(a, p.Namespace, labels) {
			lost[p.Namespace] = true
		}
	}
	if len(lost) == 0 {
		return nil
	}
	names := make([]string, 0, len(lost))
	for name := range lost {
		names = append(names, name)
	}
	slices.Sort(names)
	more := ""
	if len(names) > maxShutOut {
		more = fmt.Sprintf(" and %d more", len(names)-maxShutOut)
		names = names[:maxShutOut]
	}
	return []string{fmt.Sprintf("calls are refused from now on in %s, whose policies refer to the account: %s%s",
		count(len(lost), "namespace that is allowed no longer", "namespaces that are allowed no longer"), strings.Join(names, ", "), more)}
}
