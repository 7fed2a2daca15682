// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"errors"
	"log/slog"
	"strings"
)

// ErrLevel is what a word is that names no level.
var ErrLevel = errors.New("is not debug, info, warn or error")

// Level knows four words. Below debug, which slog would take as debug-4, Kubernetes' libraries log whole requests and answers:
// gateways' tokens and our own private keys.
func Level(word string) (slog.Level, error) {
	switch strings.ToLower(word) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return slog.LevelInfo, ErrLevel
}
