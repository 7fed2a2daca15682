// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// drained is a call of a gateway that is told, some time after the call came, to end within 25 s.
type drained struct {
	told   time.Duration
	status int
	reason string
	// took is when it is answered, and after what it is told to wait.
	took, after time.Duration
	sends       int
}

const ends = 25 * time.Second

// askEnding makes the call and checks its answer.
func (w *world) askEnding(s *script, e drained) {
	w.t.Helper()
	timer := time.AfterFunc(e.told, func() { w.gateway.EndBy(time.Now().Add(ends)) })
	defer timer.Stop()
	a := w.ask(10)
	after, _ := strconv.Atoi(a.header.Get("Retry-After"))
	if a.err != nil || a.status != e.status || a.header.Get(HeaderReason) != e.reason || a.took < e.took || a.took > e.took+time.Second || s.count() != e.sends {
		w.t.Errorf("answer %d %s %v %v after %s and %d sends, want %+v", a.status, a.body, a.header, a.err, a.took, s.count(), e)
	}
	if e.reason == "" {
		return
	}
	if a.header.Get("X-Should-Retry") != "false" || time.Duration(after)*time.Second < e.after || time.Duration(after)*time.Second > e.after+4*time.Second {
		w.t.Errorf("it is told to wait %d s, want %s: %v", after, e.after, a.header)
	}
	if !strings.Contains(a.body, `"type":"error"`) {
		w.t.Errorf("the answer has not the provider's shape: %s", a.body)
	}
}

// TestC4ACallThatADrainIsTooShortForIsAnswered: at once where its wait is known to be longer, at the end where it turns out
// so, and with the provider's own refusal where that is in hand. What can be sent is.
func TestC4ACallThatADrainIsTooShortForIsAnswered(t *testing.T) {
	const minute = 55 // seconds, which the deadline allows
	for name, tc := range map[string]struct {
		wait string // what the provider asks for
		drained
	}{
		"a retry that waits":               {strconv.Itoa(minute), drained{5 * time.Second, 503, "Draining", 5 * time.Second, (minute - 5) * time.Second, 1}},
		"a retry that would wait":          {strconv.Itoa(minute), drained{0, 429, "Draining", 0, minute * time.Second, 1}},
		"a retry that goes in time":        {"20", drained{5 * time.Second, 200, "", 20 * time.Second, 0, 2}},
		"a retry that would go in time":    {"20", drained{0, 200, "", 20 * time.Second, 0, 2}},
		"a retry that is due at the end":   {"30", drained{5 * time.Second, 503, "Draining", 5 * time.Second, 25 * time.Second, 1}},
		"a call that is sent at once":      {"", drained{0, 200, "", 0, 0, 1}},
		"a retry that ends before a drain": {"20", drained{time.Minute, 200, "", 20 * time.Second, 0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				if tc.wait != "" && n == 1 {
					time.Sleep(time.Millisecond) // the gateway is told before
					throttle(w, "Retry-After", tc.wait)
					return
				}
				answerOK(w)
			})
			r := anthropicRoute()
			r.Throttle.HonourCeilingMillis, r.Throttle.JitterPercent = 120_000, 0
			r.Deadline.DefaultMillis, r.Lanes[0].MaxWaitMillis = 120_000, 120_000
			simulate(t, s, onePolicy(r), func(w *world) {
				w.askEnding(s, tc.drained)
				w.atRest()
			})
		})
	}
}

// TestC4ACallThatIsQueuedInADrainIsAnswered: by the wait that is foreseen for a bucket, and before the cut where nobody
// can foresee it, for a place among the calls in flight.
func TestC4ACallThatIsQueuedInADrainIsAnswered(t *testing.T) {
	slot := plan.Limit{Name: "in-flight", Budget: plan.InFlight, Amount: 1, Burst: 1}
	for name, tc := range map[string]struct {
		limit  plan.Limit
		served time.Duration // how long the call before it takes
		drained
	}{
		"a bucket that fills later":      {perMinute("requests", plan.Requests, 1), 0, drained{10 * time.Second, 503, "Draining", 10 * time.Second, 50 * time.Second, 1}},
		"a bucket that fills in time":    {perMinute("requests", plan.Requests, 1), 0, drained{50 * time.Second, 200, "", 59 * time.Second, 0, 2}},
		"a place that does not get free": {slot, 55 * time.Second, drained{10 * time.Second, 503, "Draining", 10*time.Second + ends - lastAnswers, time.Second, 1}},
		"a place that gets free":         {slot, 30 * time.Second, drained{10 * time.Second, 200, "", 29 * time.Second, 0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					time.Sleep(tc.served)
				}
				answerOK(w)
			})
			r := anthropicRoute(tc.limit)
			r.Deadline.DefaultMillis, r.Lanes[0].MaxWaitMillis = 120_000, 120_000
			simulate(t, s, onePolicy(r), func(w *world) {
				before := make(chan answer, 1)
				go func() { before <- w.ask(10) }()
				time.Sleep(time.Millisecond)
				w.askEnding(s, tc.drained)
				if a := <-before; a.status != http.StatusOK {
					t.Errorf("the call before: %d %s", a.status, a.body)
				}
				w.atRest()
			})
		})
	}
}

// TestACallIsDeferredRatherThanEndedByADrain, where its policy defers what cannot be made in time.
func TestACallIsDeferredRatherThanEndedByADrain(t *testing.T) {
	r := deferring()
	r.Deadline.DefaultMillis, r.Lanes[0].MaxWaitMillis = 120_000, 120_000
	shelf := &shelf{}
	simulate(t, scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) }), onePolicy(r), func(w *world) {
		w.gateway.opts.Deferrals = shelf
		w.withKeys(map[string]string{"key": "one.example"})
		w.post(anthropicPath, message(10))
		time.AfterFunc(time.Second, func() { w.gateway.EndBy(time.Now().Add(ends)) })
		if a := w.post(anthropicPath, message(10)); a.status != http.StatusAccepted || a.took > 2*time.Second || len(shelf.kept) != 1 {
			t.Errorf("answer %d %s %v after %s, %d kept", a.status, a.body, a.header, a.took, len(shelf.kept))
		}
		w.atRest()
	})
}
