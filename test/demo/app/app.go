// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/test/demo/load"
)

const (
	// drainFor is less than the thirty seconds that a pod has to end, with lingerFor, in which the driver may ask.
	drainFor  = 25 * time.Second
	drainPoll = 20 * time.Millisecond
	lingerFor = 2 * time.Second
)

// maxBody bounds what a driver may send.
const maxBody = 1 << 16

// app makes one load at a time.
type app struct {
	ctx  context.Context //nolint:containedctx // loads outlive the request that starts them, not the process
	role string
	out  io.Writer
	sdks *sdks

	mu  sync.Mutex
	run *recorder // nil before the first
}

func newApp(ctx context.Context, role string, out io.Writer) *app {
	return &app{ctx: ctx, role: role, out: out, sdks: newSDKs()}
}

func (a *app) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("POST /run", a.serveRun)
	mux.HandleFunc("POST /call", a.serveCall)
	mux.HandleFunc("GET /result", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a.result()) // the driver asks again
	})
	return mux
}

func (a *app) serveRun(w http.ResponseWriter, r *http.Request) {
	var run load.Run
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&run); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	run = run.Complete()
	if err := run.Validate(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !a.start(run) {
		http.Error(w, "a load is running", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// start begins a load unless one is running.
func (a *app) start(run load.Run) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run != nil && a.run.result().State == load.Running {
		return false
	}
	rec := newRecorder(a.role, run.Name)
	a.run = rec
	go func() {
		newRunner(run, a.sdks, rec).run(a.ctx)
		if err := json.NewEncoder(a.out).Encode(summary(rec.result())); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "app: the summary cannot be written:", err)
		}
	}()
	return true
}

func (a *app) result() load.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run == nil {
		return load.Result{State: load.Idle, Role: a.role}
	}
	return a.run.result()
}

// drain waits for the end of a load whose calls are in flight, and lets its driver ask what became of them.
func (a *app) drain() {
	if a.result().State != load.Running {
		return
	}
	for began := time.Now(); a.result().State == load.Running && time.Since(began) < drainFor; time.Sleep(drainPoll) {
	}
	time.Sleep(lingerFor)
}

// line is what is printed at the end.
type line struct {
	load.Result
	WaitP50Millis float64 `json:"waitP50Millis"`
	WaitP99Millis float64 `json:"waitP99Millis"`
}

// summary is a result without each call's times.
func summary(r load.Result) line {
	out := line{r, load.Percentile(r.WaitsMillis, 0.5), load.Percentile(r.WaitsMillis, 0.99)}
	out.WaitsMillis, out.DeclinedMillis, out.Failures = nil, nil, nil
	return out
}
