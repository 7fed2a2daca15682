// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// recorder counts what becomes of calls.
type recorder struct {
	mu sync.Mutex
	r  load.Result
}

func newRecorder(role, name string) *recorder {
	return &recorder{r: load.Result{State: load.Running, Role: role, Name: name, Failed: map[string]int64{}}}
}

func (rec *recorder) change(f func(*load.Result)) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	f(&rec.r)
}

func (rec *recorder) begin() {
	rec.change(func(r *load.Result) { r.StartedUnixMillis = time.Now().UnixMilli() })
}

func (rec *recorder) end() {
	rec.change(func(r *load.Result) { r.State, r.EndedUnixMillis = load.Done, time.Now().UnixMilli() })
}

func (rec *recorder) skip() { rec.change(func(r *load.Result) { r.Skipped++ }) }

func (rec *recorder) start() {
	rec.change(func(r *load.Result) { r.Calls, r.InFlight = r.Calls+1, r.InFlight+1 })
}

// finish records a call that took so long, processing of it at the provider.
func (rec *recorder) finish(tokens int64, took, processing time.Duration, err error) {
	rec.change(func(r *load.Result) {
		r.InFlight--
		if err == nil {
			r.OK++
			r.TokensOK += tokens
			r.WaitsMillis = append(r.WaitsMillis, millis(max(0, took-processing)))
			return
		}
		kind := kindOf(err)
		r.Failed[kind]++
		if now := time.Now(); len(r.Failures) < load.MaxFailures {
			r.Failures = append(r.Failures, load.Failure{
				Kind: kind, Message: clipped(err), StartedUnixMillis: now.Add(-took).UnixMilli(), EndedUnixMillis: now.UnixMilli(),
			})
		}
		if kind == load.Declined {
			r.DeclinedMillis = append(r.DeclinedMillis, millis(took))
		}
	})
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1_000 }

// result is the record as it stands, times in order.
func (rec *recorder) result() load.Result {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	out := rec.r
	out.Failed = maps.Clone(rec.r.Failed)
	out.WaitsMillis, out.DeclinedMillis = slices.Clone(rec.r.WaitsMillis), slices.Clone(rec.r.DeclinedMillis)
	out.Failures = slices.Clone(rec.r.Failures)
	slices.Sort(out.WaitsMillis)
	slices.Sort(out.DeclinedMillis)
	return out
}

// kindOf says what kind of failure err is.
func kindOf(err error) string {
	var openAIErr *openai.Error
	var anthropicErr *anthropic.Error
	var netErr net.Error
	switch {
	case errors.Is(err, errCorrupt):
		return load.Corrupt
	case errors.As(err, &openAIErr):
		return kindOfAnswer(openAIErr.Response, openAIErr.Message)
	case errors.As(err, &anthropicErr):
		return kindOfAnswer(anthropicErr.Response, anthropicErr.Error())
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return load.TimedOut
	case errors.As(err, &netErr):
		return load.Connection
	}
	return load.Other
}

func kindOfAnswer(res *http.Response, message string) string {
	switch {
	case res == nil:
		return load.Other
	case strings.Contains(message, "headgate: "):
		return load.Declined
	case res.StatusCode == http.StatusTooManyRequests:
		return load.Throttled
	case res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == 529:
		return load.Overloaded
	}
	return load.Other
}
