// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"errors"
	"log/slog"
	"testing"
)

func TestLevelKnowsFourWords(t *testing.T) {
	for word, want := range map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError, "WARN": slog.LevelWarn,
	} {
		if got, err := Level(word); got != want || err != nil {
			t.Errorf("%s is %v, %v", word, got, err)
		}
	}
	for _, word := range []string{"", "debug-4", "trace", "info+1", "0", " info"} {
		if got, err := Level(word); got != slog.LevelInfo || !errors.Is(err, ErrLevel) {
			t.Errorf("%q is %v, %v", word, got, err)
		}
	}
}
