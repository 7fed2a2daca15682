// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"
)

// TestLibrariesSayWhatHappenedAndQuoteNothing: as lines like all others.
func TestLibrariesSayWhatHappenedAndQuoteNothing(t *testing.T) {
	var out strings.Builder
	flags := log.Flags()
	Library(slog.New(Handler(&out, slog.LevelInfo)))
	defer func() { log.SetFlags(flags); log.SetOutput(os.Stderr) }()
	log.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=%v", `{"a":"a secret"}`, nil)
	log.Print("plain\n a secret below")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || strings.Contains(out.String(), "secret") ||
		!strings.Contains(lines[0], `"text":"Unsolicited response received on idle HTTP channel starting with …"`) ||
		!strings.Contains(lines[1], `"text":"plain"`) {
		t.Errorf("%s", out.String())
	}
}
