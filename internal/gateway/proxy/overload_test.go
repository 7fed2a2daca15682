// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// overloadedFor answers overloads to one model for a time, and serves the rest.
func overloadedFor(d time.Duration, start *time.Time) *script {
	return scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if time.Since(*start) < d && strings.Contains(string(body), `"model":"claude-sonnet-4-5"`) {
			fail(w, 529, overloaded)
			return
		}
		answerOK(w)
	})
}

// 20 calls a second meet a minute of overload: it is found out by few, the rest waits or is declined without being sent,
// and once the model is back it is found out by a probe and all are served.
func TestOverloadedModelsAreAskedByProbesOnly(t *testing.T) {
	var start time.Time
	s := overloadedFor(time.Minute, &start)
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		start = w.start
		var all sync.WaitGroup
		var mu sync.Mutex
		var late []string
		for range 20 * 120 {
			after := time.Since(start)
			all.Go(func() {
				a := w.ask(10, HeaderDeadline, "20s")
				mu.Lock()
				defer mu.Unlock()
				if after > time.Minute+maxProbeGap && a.status != http.StatusOK {
					late = append(late, fmt.Sprint(after, " ", a.status, " ", a.header.Get(HeaderReason)))
				}
				if a.status == http.StatusServiceUnavailable && (a.header.Get(HeaderReason) != "Overloaded" ||
					a.header.Get("X-Should-Retry") != "false" || a.header.Get("Retry-After") == "") {
					t.Errorf("a declined call is told %v", a.header)
				}
			})
			time.Sleep(50 * time.Millisecond)
		}
		all.Wait()
		during := 0
		for _, at := range s.arrivals {
			if at.Sub(start) < time.Minute {
				during++
			}
		}
		t.Logf("%d sends while overloaded", during)
		if during < 6 || during > 25 {
			t.Errorf("%d sends to a model that is overloaded, want those that find it out and a few probes", during)
		}
		if len(late) > 0 {
			t.Errorf("not served after the overload: %v", late)
		}
		f := w.figures("anthropic")
		if f.tally.TooManyRequests.Load() != 0 {
			t.Error("overloads are counted as throttles")
		}
		if limits := f.gate.Figures(time.Now()).Limits; limits[0].Effective != 1 {
			t.Error("overloads cut the rate")
		}
		w.atRest()
	})
}

// maxProbeGap is the longest time between probes, and the jitter of those who wait for one.
const maxProbeGap = 32 * time.Second

// overload lets the breaker of the route's model open.
func (w *world) overload() {
	w.t.Helper()
	for range 3 {
		w.ask(10)
	}
	if ok, _, _ := w.figures("anthropic").overloads.allow("claude-sonnet-4-5", time.Now()); ok {
		w.t.Fatal("overloads do not keep calls back")
	}
}

// TestASlowProbeCostsNobodyHisAnswer: whoever can wait until a probe has told that the model is back is served, however
// often he was held back meanwhile.
func TestASlowProbeCostsNobodyHisAnswer(t *testing.T) {
	var back time.Time
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		if time.Now().Before(back) {
			fail(w, 529, overloaded)
			return
		}
		time.Sleep(15 * time.Second)
		answerOK(w)
	})
	r := anthropicRoute(canonical...)
	r.Deadline.DefaultMillis = (2 * time.Minute).Milliseconds()
	r.Lanes[0].MaxWaitMillis = r.Deadline.DefaultMillis
	simulate(t, s, onePolicy(r), func(w *world) {
		back = time.Now().Add(time.Minute)
		w.overload()
		time.Sleep(time.Until(back))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if a := w.ask(10); a.status != http.StatusOK {
					t.Errorf("answer %d %s after %v", a.status, a.header.Get(HeaderReason), a.took)
				}
			})
		}
		all.Wait()
		w.atRest()
	})
}

func TestACallThatCannotWaitForAProbeIsDeclinedAtOnce(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, 529, overloaded) })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		w.overload()
		sends := s.count()
		a := w.ask(10, HeaderDeadline, "100ms")
		if a.status != http.StatusServiceUnavailable || a.took > 50*time.Millisecond || s.count() != sends {
			t.Errorf("answer %d after %v, %d sends", a.status, a.took, s.count()-sends)
		}
		if a.header.Get(HeaderReason) != "Overloaded" || a.header.Get("Retry-After") == "" || a.header.Get("X-Should-Retry") != "false" {
			t.Errorf("headers %v", a.header)
		}
		if !strings.Contains(a.body, "Anthropic is overloaded") || !strings.Contains(a.body, "Not sent to Anthropic") {
			t.Errorf("body %s", a.body)
		}
		w.atRest()
	})
}

func TestAnOverloadedModelHoldsNoOther(t *testing.T) {
	var start time.Time
	s := overloadedFor(time.Hour, &start)
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		start = w.start
		w.overload()
		other := strings.Replace(message(10), "claude-sonnet-4-5", "claude-haiku-4-5", 1)
		if a := w.post("/anthropic/v1/messages", other); a.status != http.StatusOK || a.took > 50*time.Millisecond {
			t.Errorf("another model answers %d after %v", a.status, a.took)
		}
		w.atRest()
	})
}

func TestObservedRoutesAreNeverKeptBack(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, 529, overloaded) })
	route := anthropicRoute(canonical...)
	route.Observe = true
	simulate(t, s, onePolicy(route), func(w *world) {
		for i := range 20 {
			if a := w.ask(10); a.status != 529 || s.count() != i+1 {
				t.Fatalf("call %d: %d, %d sends", i, a.status, s.count())
			}
		}
	})
}

func TestBreakersAreBounded(t *testing.T) {
	var b breakers
	now := time.Now()
	for i := range 10 * maxBreakers {
		for range 5 {
			b.record(fmt.Sprint("m", i), decide.Overload, false, nil, now)
		}
		if ok, _, wait := b.allow(fmt.Sprint("m", i), now); ok || wait <= 0 {
			t.Fatal("the latest is forgotten")
		}
	}
	if len(b.byModel) > maxBreakers {
		t.Errorf("%d models", len(b.byModel))
	}
}
