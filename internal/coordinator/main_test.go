// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// shown is what coordinators and gateways log and measure, in which no token may stand.
var (
	shown    canary.Watch
	written  = shown.Log("the coordinators' log")
	said     = slog.New(logs.Handler(written, slog.LevelDebug))
	repeated = slog.New(logs.Handler(shown.Log("the gateways' log"), slog.LevelDebug))
	measured = shown.Log("the metrics")
)

func TestMain(m *testing.M) { os.Exit(shown.Run(m)) }

// measure has the replica's metrics searched, if they can be gathered at all.
func (r *replica) measure() {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Server)
	families, err := registry.Gather()
	if err != nil {
		r.world.t.Errorf("gather the metrics: %v", err)
	}
	fmt.Fprint(measured, families)
}
