// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
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

// slowShelf takes its time.
type slowShelf struct {
	shelf
	takes time.Duration
}

func (s *slowShelf) Take(ctx context.Context, l *Later, bounds *plan.Deferred) (*Promise, error) {
	time.Sleep(s.takes)
	return s.shelf.Take(ctx, l, bounds)
}

// TestB14WhoIsDeferredByADrainHearsNoPings: its wait is over when it is told, and a ping while its call is being kept would say
// that it failed.
func TestB14WhoIsDeferredByADrainHearsNoPings(t *testing.T) {
	form := aliveForms["Anthropic"]
	r := deferring()
	r.Deadline.DefaultMillis, r.Lanes[0].MaxWaitMillis = 120_000, 120_000
	r.Lanes[0].KeepAlive = true
	kept := &slowShelf{takes: time.Second}
	simulate(t, scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) }), onePolicy(r), func(w *world) {
		w.withKeys(map[string]string{"key": "one.example"})
		w.post(form.path, message(10))
		time.AfterFunc(plan.PingEvery-kept.takes/2, func() { w.gateway.EndBy(time.Now().Add(ends)) })
		l := w.listen(w.t.Context(), form.path, form.body)
		if l.status != http.StatusAccepted || l.err != nil || len(kept.kept) != 1 || l.headed != plan.PingEvery+kept.takes/2 {
			t.Errorf("answer %d after %s %q %v, %d are kept", l.status, l.headed, l.text, l.err, len(kept.kept))
		}
		w.atRest()
	}, func(o *Options) { o.Deferrals = kept })
}

// lingering answers after ten seconds.
func lingering(_ int, w http.ResponseWriter, _ *http.Request) {
	time.Sleep(10 * time.Second)
	answerOK(w)
}

// behindAnother makes a call when another one is under way.
func (w *world) behindAnother(path string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.post(path, message(10), "X-Api-Key", canary.Key("1"))
	}()
	time.Sleep(time.Millisecond)
	w.ask(10)
	<-done
}

// TestC4OnlyCallsThatWaitForOthersMayBeCut: the end of a drain waits for calls that the gateway answers by itself, also while it
// does so, and for no call that has to wait for its client or its provider.
func TestC4OnlyCallsThatWaitForOthersMayBeCut(t *testing.T) {
	far := func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "500") }
	ask := func(w *world) { w.ask(10) }
	for name, tc := range map[string]struct {
		first, second func(n int, w http.ResponseWriter, r *http.Request)
		defers        bool
		call          func(w *world)
		// calls are under way after a second, of which so many are away.
		calls, away int64
	}{
		"at the provider":        {lingering, nil, false, ask, 1, 1},
		"in the queue behind it": {lingering, nil, false, func(w *world) { w.behindAnother(anthropicPath) }, 2, 1},
		"on the way from the client": {nil, nil, false, func(w *world) {
			conn := w.dialled()
			_, _ = io.WriteString(conn, strings.TrimSuffix(requestOf(anthropicPath, message(10)), "}"))
			time.Sleep(2 * time.Second)
			_ = conn.Close()
		}, 1, 1},
		"until it is sent again": {func(n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				throttle(w, "Retry-After", "10")
				return
			}
			answerOK(w)
		}, nil, false, ask, 1, 0},
		"while it is deferred":              {far, nil, true, ask, 1, 0},
		"at the provider that it came to":   {far, lingering, false, ask, 1, 1},
		"in the queue that it came to":      {far, lingering, false, func(w *world) { w.behindAnother("/second/v1/messages") }, 2, 1},
		"without its caller, at a provider": {lingering, nil, true, (*world).askAlone, 1, 0},
		"over, with its answer":             {func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) }, nil, false, ask, 0, 0},
		"over, with its refusal":            {far, nil, false, ask, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &slowShelf{takes: 2 * time.Second}
			p := pair(func(a, b *plan.Route) {
				slots := []plan.Limit{{Name: "in-flight", Budget: plan.InFlight, Amount: 1, Burst: 1}}
				a.Limits, b.Limits = slots, slots
				if tc.second == nil {
					a.Throttle.OnCeilingExceeded = ""
				}
				if tc.defers {
					defers := deferring()
					a.BaseURL, a.CredentialKey, a.Deferred, a.Throttle.OnCeilingExceeded = "https://one.example/first", "key", defers.Deferred, plan.Defer
				}
			})
			simulate(t, &providers{first: scripted(tc.first), second: scripted(tc.second)}, p, func(w *world) {
				w.withKeys(map[string]string{"key": "one.example"})
				var wg sync.WaitGroup
				wg.Go(func() { tc.call(w) })
				time.Sleep(time.Second)
				if calls, _ := w.gateway.Busy(); calls != tc.calls || w.gateway.Away() != tc.away {
					t.Errorf("of %d calls %d wait for others; want %d and %d", calls, w.gateway.Away(), tc.calls, tc.away)
				}
				wg.Wait()
				w.atRest()
				if n := w.gateway.Away(); n != 0 {
					t.Errorf("%d calls wait for others when there is none", n)
				}
			}, func(o *Options) { o.Deferrals = kept })
		})
	}
}

// askAlone makes a call without a caller.
func (w *world) askAlone() {
	w.gateway.Make(context.Background(), &Later{Route: "anthropic", Path: "/v1/messages", Body: []byte(message(10))},
		MakeOptions{Patience: time.Minute, MaxAnswer: 1 << 20, Sending: func() bool { return true }})
}
