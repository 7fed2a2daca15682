// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// configuration is a webhook configuration of either kind, and where its bundles are.
type configuration struct {
	object  client.Object
	bundles []*[]byte
}

// configurations reads those that exist. One that does not has no callers.
func (s *Source) configurations(ctx context.Context) ([]configuration, error) {
	var (
		found []configuration
		errs  []error
	)
	for _, name := range s.opts.Mutating {
		c := &admissionv1.MutatingWebhookConfiguration{}
		if err := s.get(ctx, name, c); err != nil {
			errs = append(errs, client.IgnoreNotFound(err))
			continue
		}
		found = append(found, mutating(c))
	}
	for _, name := range s.opts.Validating {
		c := &admissionv1.ValidatingWebhookConfiguration{}
		if err := s.get(ctx, name, c); err != nil {
			errs = append(errs, client.IgnoreNotFound(err))
			continue
		}
		found = append(found, validating(c))
	}
	return found, errors.Join(errs...)
}

func (s *Source) get(ctx context.Context, name string, c client.Object) error {
	return s.client.Get(ctx, types.NamespacedName{Name: name}, c)
}

func mutating(c *admissionv1.MutatingWebhookConfiguration) configuration {
	out := configuration{object: c}
	for i := range c.Webhooks {
		out.bundles = append(out.bundles, &c.Webhooks[i].ClientConfig.CABundle)
	}
	return out
}

func validating(c *admissionv1.ValidatingWebhookConfiguration) configuration {
	out := configuration{object: c}
	for i := range c.Webhooks {
		out.bundles = append(out.bundles, &c.Webhooks[i].ClientConfig.CABundle)
	}
	return out
}

// publishedIn says whether every entry of every configuration trusts an authority.
func publishedIn(all []configuration, a *authority) bool {
	for _, c := range all {
		for _, bundle := range c.bundles {
			if !bundleHas(*bundle, a.cert) {
				return false
			}
		}
	}
	return true
}

// publish writes the bundle where it is not. Entries merge by name, so a newer field of an entry stays;
// somebody else's write in between is a conflict, and the next poll tries again.
func (s *Source) publish(ctx context.Context, all []configuration, bundle []byte) error {
	var errs []error
	for _, c := range all {
		before := c.object.DeepCopyObject().(client.Object)
		changed := false
		for _, at := range c.bundles {
			if !bytes.Equal(*at, bundle) {
				*at, changed = bundle, true
			}
		}
		if !changed {
			continue
		}
		patch := client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
		if err := s.client.Patch(ctx, c.object, patch); err != nil && !apierrors.IsConflict(err) {
			errs = append(errs, fmt.Errorf("publish the CA bundle to %s: %w", c.object.GetName(), err))
		}
	}
	return errors.Join(errs...)
}
