// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/control"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	stream "github.com/headgate-dev/headgate/internal/gateway/report"
	"github.com/headgate-dev/headgate/internal/gateway/share"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// coordinate keeps the stream to the coordinator until ctx ends; the channel is closed when the last report
// is sent. Without a coordinator, or with one that cannot be used, the gateway stays on its safe share.
func coordinate(ctx context.Context, o *options, g *proxy.Gateway, c *control.Control, log *slog.Logger) <-chan struct{} {
	done := make(chan struct{})
	if o.coordinator == "" {
		close(done)
		return done
	}
	client, err := stream.New(stream.Options{
		URL: o.coordinator, TokenFile: o.token, CA: coordinatorCA(c),
		Identity: stream.Identity{
			Namespace: o.namespace, PodName: os.Getenv(sidecar.EnvPodName), PodUID: os.Getenv(sidecar.EnvPodUID),
		},
		Version: version, Contract: sidecar.ContractVersion, PlanVersion: plan.Version,
		Source: share.Source{Gateway: g}, Plans: streamed{c}, Shares: share.Shares{Gateway: g}, Log: log,
	})
	if err != nil {
		log.Error("no coordinator", slog.String("error", err.Error()))
		close(done)
		return done
	}
	go func() {
		defer close(done)
		client.Run(ctx)
	}()
	return done
}

// coordinatorCA is what the pod was made with, and what plans have said since: certificates are replaced
// while pods live.
func coordinatorCA(c *control.Control) func() []byte {
	return func() []byte {
		bundle := []byte(os.Getenv(sidecar.EnvCoordinatorCA) + "\n")
		if p := c.Current(); p != nil {
			bundle = append(bundle, p.CoordinatorCA...)
		}
		return bundle
	}
}

// streamed puts plans of the stream in force.
type streamed struct{ control *control.Control }

// Offer implements stream.Plans. A plan that a file has brought meanwhile is as good.
func (s streamed) Offer(_ int64, json []byte) error {
	err := s.control.ApplyJSON(json, time.Now())
	if errors.Is(err, control.ErrStale) {
		return nil
	}
	return err
}

// Revision implements stream.Plans.
func (s streamed) Revision() int64 {
	revision, _, _ := s.control.Status()
	return revision
}
