// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/headgate-dev/headgate/internal/logs"
)

// Logger returns the one logger of the process, and makes the Kubernetes libraries use it too. Validate has
// checked the level.
func (o *Options) Logger(w io.Writer) *slog.Logger {
	level, _ := logs.Level(o.LogLevel)
	handler := logs.Handler(w, level)
	forLibraries := logr.FromSlogHandler(handler)
	ctrl.SetLogger(forLibraries)
	klog.SetLogger(forLibraries)
	return slog.New(handler)
}
