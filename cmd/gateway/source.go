// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/gateway/control"
	"github.com/headgate-dev/headgate/internal/gateway/credentials"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

const (
	// lookEvery is how often files are looked at: an edit is in force within two seconds.
	lookEvery      = time.Second
	maxPolicyBytes = 4 << 20
	maxLabelBytes  = 256 << 10
)

// source is where plans come from; look takes in what has changed.
type source interface{ look(now time.Time) }

// newSource opens the source and takes in its first plan.
func newSource(o *options, c *control.Control, g *proxy.Gateway, log *slog.Logger) (source, error) {
	now := time.Now()
	if o.policy != "" {
		s := &policySource{file: control.NewFile(o.policy, maxPolicyBytes), namespace: o.namespace, control: c, log: log}
		content, changed, err := s.file.Changed()
		if err == nil && !changed {
			err = errors.New("no such file")
		}
		if err == nil {
			err = s.apply(content, now)
		}
		if err != nil {
			return nil, fmt.Errorf("--%s %s: %w", sidecar.FlagPolicy, o.policy, err)
		}
		return s, nil
	}
	s := &planSource{file: control.NewFile(filepath.Join(o.plan, sidecar.PlanKey), plan.MaxBytes), control: c, gateway: g}
	if o.labels != "" {
		s.labels = control.NewFile(o.labels, maxLabelBytes)
	}
	s.look(now)
	if c.Current() == nil {
		c.Restore(now)
	}
	return s, nil
}

// planSource is the mounted ConfigMap, and the pod's labels.
type planSource struct {
	file, labels *control.File
	control      *control.Control
	gateway      *proxy.Gateway
}

func (s *planSource) look(now time.Time) {
	if s.labels != nil {
		if content, changed, err := s.labels.Changed(); changed && err == nil {
			s.gateway.SetLabels(control.ParseLabels(content), now)
		}
	}
	content, changed, err := s.file.Changed()
	if err != nil {
		s.control.Fail(err)
		return
	}
	if changed {
		// The error is kept and reported; an older plan is the kubelet's late copy.
		_ = s.control.ApplyJSON(content, now)
	}
}

// policySource is a file of policies, compiled here.
type policySource struct {
	file      *control.File
	namespace string
	control   *control.Control
	log       *slog.Logger
}

func (s *policySource) look(now time.Time) {
	content, changed, err := s.file.Changed()
	if err == nil && changed {
		err = s.apply(content, now)
	}
	if err != nil {
		s.control.Fail(err)
	}
}

var errNoPolicy = errors.New("no RateLimitPolicy in it")

// apply compiles the file. One bad policy refuses the whole edit: half of it would surprise.
func (s *policySource) apply(content []byte, now time.Time) error {
	objects, err := policy.Read(content)
	if err != nil {
		return err
	}
	policies := objects.Policies
	if len(policies) == 0 {
		return errNoPolicy
	}
	accounts, err := objects.AccountsOf(s.namespace)
	if err != nil {
		return err
	}
	for i := range policies {
		// A lone gateway has no pod whose labels could choose.
		policies[i].Spec.PodSelector = nil
	}
	p, outcomes := policy.Compile(policies, policy.Inputs{Namespace: s.namespace, Accounts: accounts, Previous: s.control.Current(), Now: now})
	var errs []error
	for i := range outcomes {
		for _, e := range outcomes[i].Errors {
			errs = append(errs, fmt.Errorf("policy %s: %w", outcomes[i].Name, e))
		}
		if outcomes[i].TooBig {
			errs = append(errs, fmt.Errorf("policy %s: there is no room for it", outcomes[i].Name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := s.control.Apply(&p, now); err != nil && !errors.Is(err, control.ErrStale) {
		return err
	}
	s.warn(policies)
	return nil
}

// maxWarnings bounds the lines one edit of the file may write.
const maxWarnings = 64

// warn says what is legal and probably not meant: in a cluster whoever applies a policy is told.
func (s *policySource) warn(policies []v1alpha1.RateLimitPolicy) {
	said := 0
	for i := range policies {
		for _, warning := range policy.Warnings(&policies[i]) {
			if said++; said > maxWarnings {
				return
			}
			s.log.Warn("policy", "policy", policies[i].Name, "warning", warning)
		}
	}
}

// watcher looks at the files again and again.
type watcher struct {
	source      source
	credentials *credentials.Store
	gateway     *proxy.Gateway
	log         *slog.Logger
}

func (w *watcher) run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			w.source.look(now)
			w.rekey()
		}
	}
}

// rekey takes in the keys that have changed, also beside one that cannot be read.
func (w *watcher) rekey() {
	changed, err := w.credentials.Reload()
	if err != nil {
		w.log.Error("credentials could not be read, the last ones stay", slog.String("error", err.Error()))
	}
	if len(changed) == 0 {
		return
	}
	// Not the tick's time: until now calls left with the keys from before.
	w.gateway.Rekeyed(changed, time.Now())
	w.log.Info("credentials have changed", slog.Any("credentials", changed))
}
