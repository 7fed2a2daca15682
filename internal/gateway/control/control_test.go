// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
)

func newControl(t *testing.T, state string) (*Control, *proxy.Gateway) {
	t.Helper()
	g := proxy.New(proxy.Options{
		Dialect: func(name string) (dialect.Dialect, bool) {
			d := registry.ByName(name)
			return d, d != nil
		},
		Transport: http.DefaultTransport,
	})
	return New(Options{Gateway: g, StateDir: state, Log: slog.New(slog.DiscardHandler)}, nil), g
}

func encoded(t *testing.T, revision int64, routes ...string) []byte {
	t.Helper()
	p := plan.Plan{Version: plan.Version, Revision: revision, Namespace: "team"}
	policy := plan.Policy{Name: "default", Generation: 1, MaxGateways: 4}
	for _, name := range routes {
		policy.Routes = append(policy.Routes, plan.Route{
			Name: name, Dialect: "OpenAI", BaseURL: "https://example.com",
			Deadline: plan.Deadline{DefaultMillis: 60_000},
			Throttle: plan.Throttle{HonourCeilingMillis: 30_000, JitterPercent: 25, MaxAttempts: 3},
			Unguided: plan.Backoff{BaseMillis: 500, CapMillis: 30_000},
			Overload: plan.Overload{BaseMillis: 1000, CapMillis: 30_000, MaxAttempts: 4},
			Lanes:    []plan.Lane{{Name: plan.DefaultLane, SharePermille: 1000, MaxDepth: 256, MaxWaitMillis: 50_000}},
		})
	}
	p.Policies = []plan.Policy{policy}
	data, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func has(g *proxy.Gateway, route string) bool {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/nobody", nil))
	return strings.Contains(w.Body.String(), "/"+route)
}

func TestBadPlanKeepsTheLastGoodAndIsReported(t *testing.T) {
	c, g := newControl(t, "")
	now := time.Now()
	if err := c.ApplyJSON(encoded(t, 5, "first"), now); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "half": encoded(t, 6, "second")[:100], "version": []byte(`{"version":99}`), "no json": []byte("x"),
	} {
		if err := c.ApplyJSON(data, now); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, failure, _ := c.Status(); failure == "" {
			t.Errorf("%s: not reported", name)
		}
	}
	if !has(g, "first") {
		t.Error("the last good plan is gone")
	}
	if err := c.ApplyJSON(encoded(t, 7, "third"), now); err != nil {
		t.Fatal(err)
	}
	if revision, failure, _ := c.Status(); revision != 7 || failure != "" || !has(g, "third") || has(g, "first") {
		t.Errorf("after a good plan: revision %d, failure %q", revision, failure)
	}
}

func TestOlderPlanIsNotTaken(t *testing.T) {
	c, g := newControl(t, "")
	if err := c.ApplyJSON(encoded(t, 5, "new"), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, revision := range []int64{4, 5} {
		if err := c.ApplyJSON(encoded(t, revision, "old"), time.Now()); !errors.Is(err, ErrStale) {
			t.Errorf("revision %d: %v", revision, err)
		}
	}
	if has(g, "old") {
		t.Error("an older plan is in force")
	}
}

func TestLastGoodPlanOutlivesTheContainer(t *testing.T) {
	dir := t.TempDir()
	c, _ := newControl(t, dir)
	if err := c.ApplyJSON(encoded(t, 5, "kept"), time.Now()); err != nil {
		t.Fatal(err)
	}
	next, g := newControl(t, dir)
	if !next.Restore(time.Now()) || !has(g, "kept") {
		t.Error("the plan was not restored")
	}
	empty, _ := newControl(t, t.TempDir())
	if empty.Restore(time.Now()) {
		t.Error("a plan was restored from nothing")
	}
}

func TestBrokenCAKeepsTheTransport(t *testing.T) {
	c, _ := newControl(t, "")
	p := &plan.Plan{Version: plan.Version, Revision: 3, Namespace: "team", ProviderCA: "not a certificate"}
	if err := c.Apply(p, time.Now()); err == nil || c.transport != nil {
		t.Errorf("Apply = %v", err)
	}
}

func TestFileTellsChangesAlsoThroughLinks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.json")
	f := NewFile(path, 10)
	look := func(want string, changed bool) {
		t.Helper()
		content, got, err := f.Changed()
		if err != nil || got != changed || got && string(content) != want {
			t.Errorf("Changed = %q %t %v, want %q %t", content, got, err, want, changed)
		}
	}
	look("", false)
	// A mounted ConfigMap is links to a directory that is replaced as a whole.
	for i, text := range []string{"one", "two", "two"} {
		data := filepath.Join(dir, "..data"+string(rune('a'+i)))
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, "plan.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path)
		if err := os.Symlink(filepath.Join(data, "plan.json"), path); err != nil {
			t.Fatal(err)
		}
		look(text, i < 2)
		look("", false)
	}
	_ = os.Remove(path)
	look("", false)
	if err := os.WriteFile(path, []byte("longer than ten"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Changed(); err == nil {
		t.Error("a file above its bound was read")
	}
}

func TestParseLabels(t *testing.T) {
	got := ParseLabels([]byte("app=\"support\"\nnote=\"a \\\"b\\\" c\"\nbroken\nx=unquoted\nempty=\"\"\n"))
	if diff := cmp.Diff(map[string]string{"app": "support", "note": `a "b" c`, "empty": ""}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseLabels(f *testing.F) {
	f.Add([]byte("app=\"x\"\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := len(ParseLabels(b)); n > maxLabels {
			t.Errorf("%d labels", n)
		}
	})
}

func TestFailureNamesTheRevisionThatFailed(t *testing.T) {
	c, _ := newControl(t, "")
	now := time.Now()
	expect := func(step string, want int64) {
		t.Helper()
		if _, failure, revision := c.Status(); revision != want || (failure != "") != (want != 0) {
			t.Errorf("%s: failure %q of revision %d, want %d", step, failure, revision, want)
		}
	}
	_ = c.ApplyJSON([]byte("half"), now)
	expect("nothing was ever read", 1)
	if err := c.ApplyJSON(encoded(t, 5, "first"), now); err != nil {
		t.Fatal(err)
	}
	expect("a good plan", 0)
	_ = c.ApplyJSON([]byte(`{"version":99,"revision":9}`), now)
	expect("a version of the future", 9)
	_ = c.ApplyJSON(encoded(t, 6, "x")[:40], now)
	expect("no revision can be read", 6)
	c.Fail(errors.New("too large"))
	expect("not even a file", 6)
	if err := c.ApplyJSON(encoded(t, 5, "first"), now); !errors.Is(err, ErrStale) {
		t.Errorf("the plan in force again: %v", err)
	}
	expect("the file was mended", 0)
	if err := c.ApplyJSON([]byte(`{"version":99,"revision":4}`), now); !errors.Is(err, ErrStale) {
		t.Errorf("an old plan that is bad: %v", err)
	}
	expect("an old plan that is bad", 0)
}
