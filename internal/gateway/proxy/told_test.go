// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// TestA6AnSDKThatDoesNotObeyAddsNoSendsInsideTheWait: what it repeats to the byte, and marks as its own attempt, is the
// call that was told to wait; another call is none of that, and the wait has its end.
func TestA6AnSDKThatDoesNotObeyAddsNoSendsInsideTheWait(t *testing.T) {
	const attempts = 3
	for name, tc := range map[string]struct {
		guidance []string
		wait     time.Duration
	}{
		"the provider states a wait": {[]string{"Retry-After", "7"}, 7 * time.Second},
		"in milliseconds":            {[]string{"Retry-After-Ms", "6500"}, 7 * time.Second},
		"the provider states none":   {nil, time.Second},
	} {
		for _, mark := range [][2]string{{"Amz-Sdk-Request", "attempt=2; max=3"}, {"X-Stainless-Retry-Count", "1"}} {
			t.Run(name+"/"+mark[0], func(t *testing.T) {
				s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, tc.guidance...) })
				simulate(t, s, onePolicy(anthropicRoute()), func(w *world) {
					first := w.ask(10)
					told := time.Now()
					if s.count() != attempts {
						t.Fatalf("%d sends", s.count())
					}
					if h := first.header; first.status != http.StatusTooManyRequests || h.Get("X-Should-Retry") != "false" || h.Get("Retry-After") != strconv.Itoa(int(tc.wait.Seconds())) {
						t.Errorf("the provider's answer is %d with %v", first.status, h)
					}
					for i := 2; i <= attempts; i++ {
						a := w.ask(10, mark[0], mark[1])
						after, _ := strconv.Atoi(a.header.Get("Retry-After"))
						if left := tc.wait - time.Since(told); a.status != http.StatusTooManyRequests || a.took > 50*time.Millisecond || time.Duration(after)*time.Second < left {
							t.Errorf("attempt %d of the SDK: answer %d after %s, Retry-After %d", i, a.status, a.took, after)
						}
						if a.header.Get("X-Should-Retry") != "false" || s.count() != attempts {
							t.Errorf("attempt %d of the SDK: %d sends, headers %v", i, s.count(), a.header)
						}
						time.Sleep(tc.wait / 4)
					}
					if n := w.figures("anthropic").tally.StackedBySDK(); n["other"]+n["aws"] != attempts-1 {
						t.Errorf("counted %v", n)
					}
					time.Sleep(tc.wait + time.Minute)
					before := s.count()
					if w.ask(10, mark[0], mark[1]); s.count() == before {
						t.Error("it is held to a wait that is over")
					}
					w.atRest()
				})
			})
		}
	}
}

// TestAnotherCallIsNotHeldToTheWaitOfOne, though an SDK says that it repeats it.
func TestAnotherCallIsNotHeldToTheWaitOfOne(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		if n <= 3 {
			throttle(w)
			return
		}
		answerOK(w)
	})
	simulate(t, s, onePolicy(anthropicRoute()), func(w *world) {
		w.ask(10)
		if a := w.ask(11, "X-Stainless-Retry-Count", "1"); a.status != http.StatusOK || s.count() != 4 {
			t.Errorf("another call: answer %d after %d sends", a.status, s.count())
		}
		if a := w.ask(10); a.status != http.StatusOK || s.count() != 5 {
			t.Errorf("the same by another caller: answer %d after %d sends", a.status, s.count())
		}
		w.atRest()
	})
}

// TestA6AWaitToldAfterAFailoverHoldsAtTheRouteThatWasCalled: an SDK that does not obey calls the first route again, which
// asks neither provider before one of them would serve the call, and says how long that is; then the second serves it.
func TestA6AWaitToldAfterAFailoverHoldsAtTheRouteThatWasCalled(t *testing.T) {
	for name, tc := range map[string]struct {
		second int
		held   time.Duration
	}{
		"the second's wait is shorter": {7, 7 * time.Second},
		"the first's is":               {900, 500 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			full := true
			p := farOff(func(_ int, w http.ResponseWriter, _ *http.Request) {
				if full {
					throttle(w, "Retry-After", strconv.Itoa(tc.second))
					return
				}
				answerOK(w)
			})
			simulate(t, p, pair(nil), func(w *world) {
				first := w.ask(10)
				told := time.Now()
				if first.status != http.StatusTooManyRequests || first.header.Get("Retry-After") != strconv.Itoa(tc.second) || first.header.Get(HeaderFailover) == "" {
					t.Fatalf("answer %d %v", first.status, first.header)
				}
				sent := [2]int{p.first.count(), p.second.count()}
				for range 3 {
					a := w.ask(10, "X-Stainless-Retry-Count", "1")
					after, _ := strconv.Atoi(a.header.Get("Retry-After"))
					left := tc.held - time.Since(told)
					if a.status != http.StatusTooManyRequests || a.took > 50*time.Millisecond || time.Duration(after)*time.Second < left || time.Duration(after)*time.Second >= left+time.Second {
						t.Errorf("an attempt of the SDK with %s left: answer %d %v after %s", left, a.status, a.header, a.took)
					}
					p.sent(t, sent[0], sent[1])
					time.Sleep(tc.held / 4)
				}
				full, p.first.do = false, fine
				time.Sleep(tc.held)
				if a := w.ask(10, "X-Stainless-Retry-Count", "1", "X-Fake-Input-Tokens", "10"); a.status != http.StatusOK {
					t.Errorf("after the wait: answer %d %v", a.status, a.header)
				}
				w.atRest()
			})
		})
	}
}
