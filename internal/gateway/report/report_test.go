// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

func TestBackoffIsJitteredAndBounded(t *testing.T) {
	for n := -1; n < 200; n++ {
		most := backoffCap
		if n <= 1 {
			most = backoffBase
		}
		for range 100 {
			if d := backoff(n); d < backoffMin || d > most {
				t.Fatalf("attempt %d waits %v", n, d)
			}
		}
	}
}

func TestReportsAreSpread(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		d := interval()
		if d < 900*time.Millisecond || d > 1100*time.Millisecond {
			t.Fatalf("an interval of %v", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("only %d different intervals of 100", len(seen))
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got, err := readToken(write("good", " abc.def\n")); err != nil || got != "abc.def" {
		t.Errorf("token %q, %v", got, err)
	}
	if _, err := readToken(write("empty", "\n")); err == nil {
		t.Error("an empty token is taken")
	}
	if _, err := readToken(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing token is taken")
	}
	if got, err := readToken(write("huge", strings.Repeat("x", 1<<20))); err != nil || len(got) != maxToken {
		t.Errorf("%d bytes were read, %v", len(got), err)
	}
}

func TestURLs(t *testing.T) {
	for raw, good := range map[string]bool{
		"https://headgate.headgate-system.svc:8443": true,
		"http://headgate:8443":                      false,
		"https://":                                  false,
		"https://user:secret@headgate:8443":         false,
		"://":                                       false,
		"":                                          false,
	} {
		_, err := parseURL(raw)
		if (err == nil) != good {
			t.Errorf("%q: %v", raw, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error of %q tells a secret", raw)
		}
	}
}

func TestPlanErrorsAreCutInWholeCharacters(t *testing.T) {
	got := cut(strings.Repeat("é", 300))
	if len(got) > maxPlanError || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

type noRoutes struct{}

func (noRoutes) Report(time.Time) []*wire.RouteReport { return nil }

// onePlan refuses every plan that is offered.
type onePlan struct{ revision int64 }

func (p onePlan) Revision() int64           { return p.revision }
func (p onePlan) Offer(int64, []byte) error { return errors.New("offered: cannot be run") }

func TestFailuresOfPlansFromFilesAreReported(t *testing.T) {
	failure, failedAt := "", int64(0)
	c, err := New(Options{
		URL: "https://coordinator.test:1", Source: noRoutes{}, Plans: onePlan{5},
		Failure: func() (string, int64) { return failure, failedAt },
	})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(message string, revision int64) {
		t.Helper()
		r := c.report(time.Now(), false).GetReport()
		if r.GetPlanError() != message || r.GetPlanErrorRevision() != revision || r.GetAcknowledgedRevision() != 5 {
			t.Errorf("reported %q of %d, want %q of %d", r.GetPlanError(), r.GetPlanErrorRevision(), message, revision)
		}
	}
	expect("", 0)
	failure, failedAt = "the file is half written", 6
	expect("the file is half written", 6)
	c.offer(&wire.PlanUpdate{Revision: 7, Json: []byte("{")})
	expect("offered: cannot be run", 7)
	failure, failedAt = strings.Repeat("é", 300), 8
	expect(strings.Repeat("é", maxPlanError/2), 8)
}
