// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"io"
	"log/slog"
)

// Handler writes JSON lines to w from level on. Durations are text (1.737s), not nanoseconds.
func Handler(w io.Writer, level slog.Leveler) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: readable})
}

func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
