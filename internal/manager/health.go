// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

var errCachesNotSynced = errors.New("the caches are not synced yet")

// addHealth makes a replica ready once it can answer what it is sent: a certificate that callers trust,
// caches that know the cluster, and a webhook server that listens.
func (p *parts) addHealth() error {
	var synced atomic.Bool
	alive := map[string]healthz.Checker{"ping": healthz.Ping}
	ready := map[string]healthz.Checker{
		"certificates": func(*http.Request) error { return p.source.Ready() },
		"webhooks":     p.mgr.GetWebhookServer().StartedChecker(),
		"caches": func(*http.Request) error {
			if !synced.Load() {
				return errCachesNotSynced
			}
			return nil
		},
	}
	return errors.Join(
		// The manager starts this after its caches.
		p.mgr.Add(everywhere(func(context.Context) error { synced.Store(true); return nil })),
		addPages(p.mgr, "health", p.opts.HealthAddress, healthPages(alive, ready), p.log),
		addPages(p.mgr, "metrics", p.opts.MetricsAddress, metricsPages(), p.log),
	)
}
