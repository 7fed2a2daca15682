// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestDurationsAreReadable(t *testing.T) {
	var out strings.Builder
	log := slog.New(Handler(&out, slog.LevelInfo))
	log.Debug("not written")
	log.With("bound", time.Minute).Info("waiting", "retryIn", 1737*time.Millisecond)
	got := out.String()
	for _, want := range []string{`"bound":"1m0s"`, `"retryIn":"1.737s"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the line lacks %s: %s", want, got)
		}
	}
	if strings.Contains(got, "not written") {
		t.Errorf("a line below the level was written: %s", got)
	}
}
