// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"context"
	"log"
	"log/slog"
)

// Library has what the standard library says of its own accord written as lines of a log, and without what it quotes:
// net/http quotes what a provider sends behind its answer, which may be a key or the words of a model.
func Library(l *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(library{l})
}

type library struct{ *slog.Logger }

func (l library) Write(line []byte) (int, error) {
	text, _, quoted := bytes.Cut(bytes.TrimSpace(line), []byte(`"`))
	if text, _, _ = bytes.Cut(text, []byte("\n")); quoted {
		text = append(bytes.TrimSpace(text), " …"...)
	}
	l.Log(context.Background(), slog.LevelInfo, "a library says", slog.String("text", string(text)))
	return len(line), nil
}
