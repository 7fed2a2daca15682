// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// PolicyValidator answers requests to create and change policies.
type PolicyValidator struct {
	// Reader reads policies, pods, namespaces and accounts from caches.
	Reader client.Reader
	// Live reads accounts and namespaces from the API server; nil does without.
	Live client.Reader
}

var _ admission.Validator[*v1alpha1.RateLimitPolicy] = (*PolicyValidator)(nil)

// ValidateCreate refuses what has no meaning, and says what the first policy of a namespace still needs.
func (v *PolicyValidator) ValidateCreate(ctx context.Context, p *v1alpha1.RateLimitPolicy) (admission.Warnings, error) {
	warnings, err := v.validate(ctx, p)
	if err != nil {
		return warnings, err
	}
	return append(warnings, v.firstPolicyWarnings(ctx, p)...), nil
}

// ValidateUpdate judges a spec only when it changes, so that rules that came later do not get in the way
// of labels, finalizers and deletion.
func (v *PolicyValidator) ValidateUpdate(ctx context.Context, old, p *v1alpha1.RateLimitPolicy) (admission.Warnings, error) {
	if p.DeletionTimestamp != nil || equality.Semantic.DeepEqual(old.Spec, p.Spec) {
		return nil, nil
	}
	return v.validate(ctx, p)
}

// ValidateDelete is never asked: the configuration names no DELETE.
func (v *PolicyValidator) ValidateDelete(context.Context, *v1alpha1.RateLimitPolicy) (admission.Warnings, error) {
	return nil, nil
}

func (v *PolicyValidator) validate(ctx context.Context, p *v1alpha1.RateLimitPolicy) (admission.Warnings, error) {
	errs := policy.Validate(p)
	if len(errs) == 0 {
		var err error
		if errs, err = v.accounts(ctx, p); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	if len(errs) > 0 {
		kind := v1alpha1.GroupVersion.WithKind("RateLimitPolicy").GroupKind()
		return nil, apierrors.NewInvalid(kind, p.Name, errs)
	}
	return append(policy.Warnings(p), guarantees(p)...), nil
}

// maxGuarantees bounds what kubectl prints after each apply; kubectl headgate explain policy says all of them.
const maxGuarantees = 16

// guarantees tells whoever applies lanes what each is sure of, which no other answer to a request can carry.
func guarantees(p *v1alpha1.RateLimitPolicy) []string {
	all := policy.Guarantees(p)
	out := make([]string, 0, len(all))
	for _, one := range all[:min(len(all), maxGuarantees)] {
		out = append(out, "guaranteed to lane "+one)
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more lanes: kubectl headgate explain policy says what is guaranteed to them", more))
	}
	return out
}
