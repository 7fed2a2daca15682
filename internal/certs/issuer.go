// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// Issuer is the leader's part: it keeps the Secret and the published bundles right.
type Issuer struct{ source *Source }

// NeedLeaderElection makes the manager run it on the leader alone.
func (i *Issuer) NeedLeaderElection() bool { return true }

// Start works until ctx ends. An error is logged and tried again: certificates that are still good must
// not be lost to a slow API server.
func (i *Issuer) Start(ctx context.Context) error {
	i.source.poll(ctx, func() error { return i.Step(ctx) })
	return nil
}

// Step does once what is due.
func (i *Issuer) Step(ctx context.Context) error {
	s := i.source
	configurations, err := s.configurations(ctx)
	if err != nil {
		return err
	}
	r, err := s.ensure(ctx, configurations)
	if err != nil {
		return err
	}
	return s.publish(ctx, configurations, r.bundle())
}

// ensure returns the stored rotation, moved on if it was due. Of two that write at once one loses, and
// takes what the other wrote.
func (s *Source) ensure(ctx context.Context, configurations []configuration) (rotation, error) {
	secret, err := s.readSecret(ctx)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return rotation{}, err
	}
	stored, err := decode(secret)
	if err != nil {
		logf.FromContext(ctx).Info("replacing what cannot be read", "secret", s.opts.secretKey(), "reason", err.Error())
	}
	if missing {
		// Servers still present what the lost authority signed.
		secret, stored.previous = s.emptySecret(), s.lastSigner()
	}
	advanced, changed, err := stored.advance(s.opts.Now(), s.opts, func(a *authority) bool {
		return publishedIn(configurations, a)
	})
	if err != nil || !changed {
		return advanced, err
	}
	if err := encode(advanced, secret); err != nil {
		return rotation{}, err
	}
	if missing {
		err = s.client.Create(ctx, secret)
	} else {
		err = s.client.Update(ctx, secret)
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		return s.reread(ctx)
	}
	if err != nil {
		return rotation{}, fmt.Errorf("store the authority: %w", err)
	}
	return advanced, nil
}

func (s *Source) reread(ctx context.Context) (rotation, error) {
	secret, err := s.readSecret(ctx)
	if err != nil {
		return rotation{}, err
	}
	r, err := decode(secret)
	if err == nil && r.current == nil {
		err = errNoAuthority
	}
	return r, err
}
