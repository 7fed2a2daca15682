// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/headgate-dev/headgate/internal/certs"
)

var errCachesNotSynced = errors.New("the caches are not synced yet")

// addHealth makes a replica ready once it can answer what it is sent: a certificate that callers trust,
// caches that know the cluster, and a webhook server that listens.
func addHealth(mgr ctrl.Manager, source *certs.Source) error {
	var synced atomic.Bool
	return errors.Join(
		// The manager starts this after its caches.
		mgr.Add(everywhere(func(context.Context) error { synced.Store(true); return nil })),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("certificates", func(*http.Request) error { return source.Ready() }),
		mgr.AddReadyzCheck("webhooks", mgr.GetWebhookServer().StartedChecker()),
		mgr.AddReadyzCheck("caches", func(*http.Request) error {
			if !synced.Load() {
				return errCachesNotSynced
			}
			return nil
		}),
	)
}
