// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/control"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/report"
	"github.com/headgate-dev/headgate/internal/gateway/share"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// coordinate keeps the stream to the coordinator until ctx ends; the channel is closed at its end.
func coordinate(ctx context.Context, o *options, g *proxy.Gateway, c *control.Control, log *slog.Logger) <-chan struct{} {
	done := make(chan struct{})
	if o.coordinator == "" {
		close(done)
		return done
	}
	client, err := report.New(report.Options{
		URL: o.coordinator, TokenFile: o.token, CA: func() []byte { return coordinatorCA(c) },
		Identity: report.Identity{
			Namespace: o.namespace, PodName: os.Getenv(sidecar.EnvPodName), PodUID: os.Getenv(sidecar.EnvPodUID),
		},
		Version: version, Contract: sidecar.ContractVersion,
		Source: share.Source{Gateway: g}, Plans: plans{c}, Failure: plans{c}.failure, Log: log,
		Draws: share.Draws{Gateway: g}, Incarnation: o.incarnation,
	})
	if err != nil {
		// The gateway serves on its safe share; what is wrong is in the log.
		log.Error("there will be no stream to the coordinator", slog.String("error", err.Error()))
		close(done)
		return done
	}
	go func() {
		defer close(done)
		client.Run(ctx)
	}()
	return done
}

// coordinatorCA is the bundle of the plan, which follows rotations, with the one the pod was made with.
func coordinatorCA(c *control.Control) []byte {
	bundle := os.Getenv(sidecar.EnvCoordinatorCA)
	if p := c.Current(); p != nil {
		bundle += "\n" + p.CoordinatorCA
	}
	return []byte(bundle)
}

// plans takes in what the coordinator sends.
type plans struct{ control *control.Control }

// Offer implements report.Plans.
func (p plans) Offer(_ int64, json []byte) error { return p.control.ApplyJSON(json, time.Now()) }

// failure is why the newest plan, from the file or the stream, is not in force.
func (p plans) failure() (message string, revision int64) {
	_, message, revision = p.control.Status()
	return message, revision
}

// Revision implements report.Plans.
func (p plans) Revision() int64 {
	revision, _, _ := p.control.Status()
	return revision
}
