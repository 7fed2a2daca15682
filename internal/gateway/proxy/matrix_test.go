// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// crowd is how many calls end in each way at once.
const crowd = 100

// faulty is a dialect that panics in one of its methods, while it is told to.
type faulty struct {
	dialect.Dialect

	at string
	on *atomic.Bool
}

func (f faulty) fail(at string) {
	if f.at == at && f.on.Load() {
		panic("a fault of ours in " + at)
	}
}

func (f faulty) Operation(method, path string) dialect.Operation {
	f.fail("Operation")
	return f.Dialect.Operation(method, path)
}

func (f faulty) Path(path string) string {
	f.fail("Path")
	return f.Dialect.Path(path)
}

func (f faulty) ReadRequest(op dialect.Operation, kind string, body []byte) dialect.Request {
	f.fail("ReadRequest")
	return f.Dialect.ReadRequest(op, kind, body)
}

func (f faulty) Fingerprint(h http.Header, query string) uint64 {
	f.fail("Fingerprint")
	return f.Dialect.Fingerprint(h, query)
}

func (f faulty) ReadHeaders(status int, h http.Header, now time.Time) dialect.Reading {
	f.fail("ReadHeaders")
	return f.Dialect.ReadHeaders(status, h, now)
}

func (f faulty) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	f.fail("ReadFailure")
	return f.Dialect.ReadFailure(status, h, body, r)
}

func (f faulty) Refusal(r dialect.Refusal) (int, http.Header, []byte) {
	f.fail("Refusal")
	return f.Dialect.Refusal(r)
}

func (f faulty) NewMeter(op dialect.Operation, h http.Header, o dialect.MeterOptions) dialect.Meter {
	f.fail("NewMeter")
	return faultyMeter{f.Dialect.NewMeter(op, h, o), f}
}

type faultyMeter struct {
	dialect.Meter

	of faulty
}

func (m faultyMeter) Write(p []byte) []byte {
	m.of.fail("Write")
	return m.Meter.Write(p)
}

func (m faultyMeter) Close() []byte {
	m.of.fail("Close")
	return m.Meter.Close()
}

func (m faultyMeter) Usage() dialect.Usage {
	m.of.fail("Usage")
	return m.Meter.Usage()
}

// TestC4APanicAnywhereReleases: wherever in the handler something breaks, a hundred calls at once that meet it leave
// nothing, and the next ones are served.
func TestC4APanicAnywhereReleases(t *testing.T) {
	for _, at := range []string{"Operation", "Path", "ReadRequest", "Fingerprint", "ReadHeaders", "ReadFailure", "Refusal", "NewMeter", "Write", "Close", "Usage"} {
		t.Run(at, func(t *testing.T) {
			on := &atomic.Bool{}
			on.Store(true)
			s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
				switch {
				case !on.Load():
					answerOK(w)
				case at == "ReadFailure":
					fail(w, http.StatusBadRequest, `{}`)
				case r.Header.Get("X-Stream") != "":
					event(w, "message_start", messageStart)
					event(w, "message_stop", `{"type":"message_stop"}`)
				default:
					answerOK(w)
				}
			})
			limits := slices.Concat(canonical[:2], []plan.Limit{inFlight})
			simulate(t, s, onePolicy(anthropicRoute(limits...)), func(w *world) {
				if at == "Refusal" {
					w.gateway.SetTransport(failing{http.ErrServerClosed})
				}
				var cut atomic.Int64
				w.together(func(i int) {
					body, headers := message(10), []string{"x-api-key", canary.Key("1")}
					if i%2 == 1 {
						body, headers = streamed(10), append(headers, "X-Stream", "1")
					}
					if a := w.post(anthropicPath, body, headers...); a.err != nil {
						cut.Add(1)
					}
				})
				if cut.Load() != crowd {
					t.Errorf("%d of %d calls met the fault", cut.Load(), crowd)
				}
				on.Store(false)
				w.gateway.SetTransport(w.upstream)
				w.restored()
			}, func(o *Options) {
				o.Dialect = func(name string) (dialect.Dialect, bool) {
					d, ok := byName(name)
					return faulty{d, at, on}, ok
				}
			})
		})
	}
}

// together makes a crowd's calls at once, and waits for their ends.
func (w *world) together(call func(i int)) {
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() { call(i) })
	}
	wg.Wait()
}

// restored fails unless nothing is held, all limits are full when their refill has had its time, and calls are served.
func (w *world) restored() {
	w.t.Helper()
	w.atRest()
	time.Sleep(time.Hour)
	for limit, full := range map[string]float64{"requests": 4_000, "input-tokens": 400_000, "in-flight": 2} {
		if level := w.figures("anthropic").level(limit); level != full {
			w.t.Errorf("%v of %s are left of %v", level, limit, full)
		}
	}
	for range 2 {
		if a := w.ask(10); a.status != http.StatusOK {
			w.t.Errorf("the next call gets %d %s", a.status, a.body)
		}
	}
	w.atRest()
}

// TestC4APlanThatChangesUnderCallsLeavesNothing: whatever becomes of the policy while calls wait and stream, each call
// ends as it would have, and the route that comes back has lost nothing.
func TestC4APlanThatChangesUnderCallsLeavesNothing(t *testing.T) {
	limits := slices.Concat(canonical[:2], []plan.Limit{inFlight})
	route := func(change func(*plan.Route)) *plan.Plan {
		r := anthropicRoute(limits...)
		r.Limits = slices.Clone(r.Limits)
		change(&r)
		return onePolicy(r)
	}
	for name, edited := range map[string]*plan.Plan{
		"removed":        {Version: plan.Version, Revision: 2, Namespace: "team-support"},
		"renamed":        route(func(r *plan.Route) { r.Name = "other" }),
		"without limits": route(func(r *plan.Route) { r.Limits = nil }),
		"one slot":       route(func(r *plan.Route) { r.Limits[2].Amount, r.Limits[2].Burst = 1, 1 }),
		"many slots":     route(func(r *plan.Route) { r.Limits[2].Amount, r.Limits[2].Burst = 50, 50 }),
		"nothing passes": route(func(r *plan.Route) { r.Limits[0].Amount, r.Limits[0].Burst = 0, 0 }),
		"observed":       route(func(r *plan.Route) { r.Observe = true }),
		"other lanes":    route(func(r *plan.Route) { r.Lanes[0].MaxDepth, r.Lanes[0].MaxWaitMillis = 1, 1000 }),
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Stream") == "" {
					time.Sleep(100 * time.Millisecond)
					answerOK(w)
					return
				}
				event(w, "message_start", messageStart)
				time.Sleep(3 * time.Second)
				event(w, "message_stop", `{"type":"message_stop"}`)
			})
			first := route(func(*plan.Route) {})
			simulate(t, s, first, func(w *world) {
				time.AfterFunc(time.Second, func() { w.gateway.Apply(edited, time.Now()) })
				time.AfterFunc(20*time.Second, func() { w.gateway.Apply(first, time.Now()) })
				w.together(func(i int) {
					ctx, body, headers := context.Background(), message(10), []string{"x-api-key", canary.Key("1"), HeaderDeadline, "10s"}
					if i%3 == 0 {
						body, headers = streamed(10), append(headers, "X-Stream", "1")
					}
					if a := w.do(ctx, http.MethodPost, anthropicPath, body, headers...); a.err != nil || a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
						t.Errorf("answer %d %s, %v", a.status, a.body, a.err)
					}
				})
				time.Sleep(time.Minute)
				w.restored()
			})
		})
	}
}
