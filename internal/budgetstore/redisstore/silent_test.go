// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// alone has a test of this binary run as a process of its own, whose output is looked at.
const alone = "HEADGATE_TEST_ALONE"

// TestTheClientWritesNoLinesOfItsOwn: it would tell of every dial that fails, beside the log and at every draw. Its logger keeps the standard error of when the process began, so that is another process's.
func TestTheClientWritesNoLinesOfItsOwn(t *testing.T) {
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		cmd.Env = append(os.Environ(), alone+"=yes")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "redis") {
			t.Errorf("%v, it says:\n%s", err, out)
		}
		return
	}
	s, err := Open(Options{URL: "redis://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if got := s.Draw(ctx, []*budgetstore.Request{{Account: "account/a", Drawer: "d", Incarnation: "1"}}); got[0].Err == nil {
		t.Error("a draw on nothing")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
