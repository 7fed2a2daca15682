// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// scriptedApp answers as an app whose load is over at once.
type scriptedApp struct {
	mu     sync.Mutex
	runs   []load.Run
	result load.Result
}

func (a *scriptedApp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.URL.Path == "/run" {
		var run load.Run
		_ = json.NewDecoder(r.Body).Decode(&run)
		a.runs = append(a.runs, run)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if err := json.NewEncoder(w).Encode(a.result); err != nil {
		panic(http.ErrAbortHandler) // the driver has left
	}
}

func startScripted(t *testing.T, r load.Result) (*scriptedApp, string) {
	t.Helper()
	a := &scriptedApp{result: r}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return a, server.URL
}

func TestPhaseStartsAllAppsTogetherAndMergesThem(t *testing.T) {
	provider := httptest.NewServer(fakeprovider.New(fakeprovider.Options{}))
	t.Cleanup(provider.Close)
	first, firstURL := startScripted(t, load.Result{
		State: load.Done, Role: "support", Calls: 10, OK: 9, Failed: map[string]int64{load.Declined: 1}, WaitsMillis: []float64{5},
	})
	second, secondURL := startScripted(t, load.Result{State: load.Done, Role: "support", Calls: 10, OK: 10, WaitsMillis: []float64{7}})
	bulk, bulkURL := startScripted(t, load.Result{State: load.Done, Role: "ingest", Calls: 2, OK: 2})
	out := filepath.Join(t.TempDir(), "phase.json")
	err := command(t.Context(), []string{
		"run", "--name", "p", "--provider", provider.URL, "--seconds", "1", "--start-percent", "10", "--openai-percent", "20",
		"--app", "support,calls=90,tokens=2000=" + firstURL, "--app", "support,calls=90,tokens=2000=" + secondURL,
		"--app", "ingest,calls=4,tokens=60000=" + bulkURL, "--out", out,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(first.runs) != 1 || first.runs[0] != second.runs[0] || first.runs[0].OpenAIPercent != 20 {
		t.Errorf("runs = %+v and %+v", first.runs, second.runs)
	}
	if r := bulk.runs[0]; r.OpenAIPercent != 0 || r.InputTokens != 60_000 || r.StartUnixMillis != first.runs[0].StartUnixMillis {
		t.Errorf("bulk run = %+v", r)
	}
	var p phase
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	if s := p.Roles["support"]; s.Calls != 20 || s.OK != 19 || s.FailedCalls() != 1 {
		t.Errorf("support = %+v", s)
	}
}

func TestPhaseFailsWithAnAppThatDoesNotAnswer(t *testing.T) {
	provider := httptest.NewServer(fakeprovider.New(fakeprovider.Options{}))
	t.Cleanup(provider.Close)
	_, url := startScripted(t, load.Result{State: load.Done})
	gone := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(gone.Close)
	err := command(t.Context(), []string{
		"run", "--name", "p", "--provider", provider.URL, "--app", "support,calls=90,tokens=2000=" + url,
		"--app", "support,calls=90,tokens=2000=" + gone.URL,
	})
	if err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v, want the app's answer", err)
	}
}

func TestAccountIsWhatChangedSince(t *testing.T) {
	stats := func(level, refilled, spent float64) fakeprovider.AccountStats {
		return fakeprovider.AccountStats{KeyHash: "a", Budgets: []fakeprovider.BudgetStats{
			{Budget: "InputTokens", StartLevel: 100, Level: level, Refilled: refilled, Spent: spent},
			{Budget: "Requests", StartLevel: 1, Level: 1, Refilled: 1, Spent: 1},
		}}
	}
	fresh := stats(50, 10, 60)
	fresh.KeyHash = "b"
	before := fakeprovider.Stats{Accounts: []fakeprovider.AccountStats{stats(40, 5, 65)}}
	after := fakeprovider.Stats{Accounts: []fakeprovider.AccountStats{stats(30, 25, 95), fresh}}
	want := account{Budget: "InputTokens", Start: 40 + 100, Refilled: 20 + 10, Spent: 30 + 60, Level: 30 + 50}
	if diff := cmp.Diff(want, accountOf(after, before, "InputTokens")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	phases := []phase{
		{
			Name: "with Headgate", Seconds: 120, Admitted: 244, Throttled: 0,
			Account: account{Start: 0, Refilled: 800_000, Spent: 792_000},
			Roles: map[string]load.Result{
				"support": {
					Calls: 360, OK: 236, Failed: map[string]int64{load.Declined: 124},
					WaitsMillis: []float64{10, 12_000, 44_000}, DeclinedMillis: []float64{2, 3},
				},
				"ingest": {Calls: 8, OK: 8, WaitsMillis: []float64{21_000}},
			},
		},
		{
			Name: "without", Seconds: 60, Admitted: 195, Throttled: 410,
			Account: account{Start: 0, Refilled: 400_000, Spent: 390_000},
			Roles: map[string]load.Result{
				"support": {Calls: 180, OK: 120, Failed: map[string]int64{load.Throttled: 60}, WaitsMillis: []float64{900}},
				"ingest":  {Calls: 4, Failed: map[string]int64{load.Throttled: 4}},
			},
		},
	}
	var got bytes.Buffer
	if err := render(&got, phases); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	for name, args := range map[string][]string{
		"no command":      {},
		"unknown command": {"walk"},
		"no name":         {"run", "--provider", "http://x", "--app", "support,calls=1,tokens=1=http://x"},
		"no apps":         {"run", "--name", "n", "--provider", "http://x"},
		"bad app":         {"run", "--name", "n", "--provider", "http://x", "--app", "support=http://x"},
		"no URL":          {"run", "--name", "n", "--provider", "http://x", "--app", "support,calls=1,tokens=1"},
		"too long":        {"run", "--name", "n", "--provider", "http://x", "--seconds", "9999", "--app", "support,calls=1,tokens=1=http://x"},
		"no such file":    {"table", filepath.Join(t.TempDir(), "none.json")},
	} {
		if err := command(t.Context(), args); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := printTable(io.Discard, nil); err != nil {
		t.Errorf("a table of nothing: %v", err)
	}
}
