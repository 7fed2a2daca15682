// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/connections"
)

// drainTime is what streams get to end when the manager stops; gateways reconnect to another replica.
const drainTime = 2 * time.Second

// tokenReviews implements coordinator.TokenReviews.
type tokenReviews struct{ client client.Client }

func (t tokenReviews) Create(ctx context.Context, review *authenticationv1.TokenReview) error {
	return t.client.Create(ctx, review)
}

// serveCoordinator listens until ctx ends.
func serveCoordinator(ctx context.Context, server *http.Server, address string) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for gateways: %w", err)
	}
	if err := connections.ServeTLS(ctx, server, listener, drainTime); err != nil {
		return fmt.Errorf("serve gateways: %w", err)
	}
	return nil
}
