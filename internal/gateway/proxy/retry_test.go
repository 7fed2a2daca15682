// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// patientRoute honours 120 s within a deadline of 300 s.
func patientRoute() plan.Route {
	r := anthropicRoute(canonical...)
	r.Throttle.HonourCeilingMillis = 120_000
	r.Deadline.DefaultMillis = 300_000
	r.Lanes[0].MaxWaitMillis = 300_000
	return r
}

// Fault A1: A client that believed waits of up to 60 s only took its own short backoff instead of a longer one, and was
// refused again.
// Headgate: A wait up to the policy's honourCeiling is slept in full, plus jitter and never less; a longer one is
// declined at once, with the provider's answer and its Retry-After.
func TestA1WaitsUpToTheCeilingAreHonouredAndLongerOnesDeclined(t *testing.T) {
	once := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			throttle(w, "Retry-After", "61")
			return
		}
		answerOK(w)
	})
	simulate(t, once, onePolicy(patientRoute()), func(w *world) {
		a := w.ask(10)
		if a.status != http.StatusOK || once.count() != 2 {
			t.Fatalf("answer %d after %d sends", a.status, once.count())
		}
		if gap := once.gap(1); gap < 61*time.Second || gap > 61*time.Second*5/4 {
			t.Errorf("the retry came %s after", gap)
		}
		w.atRest()
	})
	above := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		throttle(w, "Retry-After", "121", "Request-Id", "req_up", "Anthropic-Ratelimit-Requests-Limit", "4000")
	})
	simulate(t, above, onePolicy(patientRoute()), func(w *world) {
		a := w.ask(10)
		after, _ := strconv.Atoi(a.header.Get("Retry-After"))
		if a.status != http.StatusTooManyRequests || a.took > 100*time.Millisecond || after < 121 || above.count() != 1 {
			t.Errorf("answer %d after %s, Retry-After %d, %d sends", a.status, a.took, after, above.count())
		}
		if a.body != throttled || a.header.Get("Request-Id") != "req_up" || a.header.Get("Anthropic-Ratelimit-Requests-Limit") != "4000" {
			t.Errorf("the provider's answer was changed: %s %v", a.body, a.header)
		}
		if a.header.Get("X-Should-Retry") != "false" || a.header.Get(HeaderReason) != "CeilingExceeded" {
			t.Errorf("headers %v", a.header)
		}
		w.atRest()
	})
}

// Fault A2: Without any bound on stated waits, a process slept for an hour, or for sixteen days.
// Headgate: What is beyond the ceiling is answered within milliseconds, and no goroutine, slot or reservation is left
// behind.
func TestA2WaitOfDaysIsAnsweredAtOnceAndHoldsNothing(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "1382400") })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		a := w.ask(10)
		if a.status != http.StatusTooManyRequests || a.took > 200*time.Millisecond || s.count() != 1 {
			t.Errorf("answer %d after %s and %d sends", a.status, a.took, s.count())
		}
		w.atRest()
	})
}

// Fault A3: A Retry-After of 0, of the past, below zero, not a number, or larger than a duration became a retry without
// a pause, or an overflow.
// Headgate: Each retry waits at least its own backoff, a huge value is above the ceiling, what cannot be read is no
// guidance, and attempts stay within the policy's.
func TestA3EdgeValuesNeverShortenAWait(t *testing.T) {
	cases := map[string]struct {
		headers []string
		// least is the least gap; declined means that there is no second send.
		least    time.Duration
		declined bool
	}{
		"equal to the ceiling": {[]string{"Retry-After", "30"}, 30 * time.Second, false},
		"zero":                 {[]string{"Retry-After", "0"}, 100 * time.Millisecond, false},
		"zero with fraction":   {[]string{"Retry-After", "0.0"}, 100 * time.Millisecond, false},
		"negative":             {[]string{"Retry-After", "-1"}, 100 * time.Millisecond, false},
		"past date":            {[]string{"Retry-After", "Mon, 02 Jan 1995 15:04:05 GMT"}, 100 * time.Millisecond, false},
		"negative millis":      {[]string{"Retry-After-Ms", "-1"}, 100 * time.Millisecond, false},
		"not a number":         {[]string{"Retry-After", "NaN"}, 100 * time.Millisecond, false},
		"exponent":             {[]string{"Retry-After", "1e309"}, 100 * time.Millisecond, false},
		"words":                {[]string{"Retry-After", "abc"}, 100 * time.Millisecond, false},
		"empty":                {[]string{"Retry-After", ""}, 100 * time.Millisecond, false},
		"largest integer":      {[]string{"Retry-After", "9223372036854775807"}, 0, true},
		"larger than that":     {[]string{"Retry-After", "99999999999999999999999"}, 0, true},
		"two lines":            {[]string{"Retry-After", "1", "Retry-After", "3"}, 3 * time.Second, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, tc.headers...) })
			route := anthropicRoute(canonical...)
			route.Deadline.DefaultMillis, route.Lanes[0].MaxWaitMillis = 300_000, 300_000
			simulate(t, s, onePolicy(route), func(w *world) {
				a := w.ask(10)
				want := 3
				if tc.declined {
					want = 1
				}
				if a.status != http.StatusTooManyRequests || s.count() != want || a.body != throttled {
					t.Fatalf("answer %d %s after %d sends", a.status, a.body, s.count())
				}
				for n := 1; n < s.count(); n++ {
					if gap := s.gap(n); gap < tc.least {
						t.Errorf("send %d came %s after the one before", n+1, gap)
					}
				}
				if a.header.Get("X-Should-Retry") != "false" {
					t.Errorf("headers %v", a.header)
				}
				w.atRest()
			})
		})
	}
}

// Fault A4: A gateway slept on for a wait that its own caller would never see the end of, and the caller saw a timeout
// that said nothing.
// Headgate: The caller's deadline, by header, SDK timeout or the route's default, is compared with the wait before
// anybody sleeps, again after the queue, and what does not fit is answered at once with the wait.
func TestA4WaitThatOutlastsTheCallerIsDeclinedAtOnce(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "61") })
	for name, headers := range map[string][]string{
		"deadline in the header": {HeaderDeadline, "30s"}, "timeout of the SDK": {"X-Stainless-Timeout", "30"},
		"the default patience": {}, "a read timeout": {"X-Stainless-Read-Timeout", "30"},
		"timeout of Google's SDKs": {"X-Server-Timeout", "30"},
		// The bubble's clock begins at midnight of 2000.
		"end of an AWS SDK's attempt": {"Amz-Sdk-Request", "ttl=20000101T000030Z; attempt=1; max=3"},
	} {
		t.Run(name, func(t *testing.T) {
			before := s.count()
			route := patientRoute()
			if len(headers) == 0 {
				route.Deadline.DefaultMillis = 60_000
			}
			simulate(t, s, onePolicy(route), func(w *world) {
				a := w.ask(10, headers...)
				after, _ := strconv.Atoi(a.header.Get("Retry-After"))
				if a.status != http.StatusTooManyRequests || a.took > 50*time.Millisecond || after < 61 {
					t.Errorf("answer %d after %s, Retry-After %d", a.status, a.took, after)
				}
				if n := s.count() - before; n != 1 {
					t.Errorf("%d sends", n)
				}
				w.atRest()
			})
		})
	}
}

// Fault A5: Attempts went on after the client had hung up, beyond the number allowed.
// Headgate: A client that leaves ends the wait or the attempt at once, nothing is sent afterwards, everything is given
// back, and the call counts as the client's leaving.
func TestA5RetriesEndWhenTheClientLeaves(t *testing.T) {
	sleeping := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "9") })
	simulate(t, sleeping, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if a := w.do(ctx, http.MethodPost, anthropicPath, message(10), "x-api-key", canary.Key("1")); a.err == nil {
			t.Errorf("answer %d", a.status)
		}
		time.Sleep(time.Minute)
		if sleeping.count() != 1 {
			t.Errorf("%d sends after the client left in the wait", sleeping.count())
		}
		w.atRest()
		w.endedAs(outcomeCancelled, 1)
	})
	second := scripted(func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			throttle(w, "Retry-After", "1")
			return
		}
		<-r.Context().Done()
	})
	simulate(t, second, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		w.do(ctx, http.MethodPost, anthropicPath, message(10), "x-api-key", canary.Key("1"))
		synctest.Wait()
		if second.left() != 1 {
			t.Error("the provider was not told that the client left")
		}
		time.Sleep(time.Minute)
		if second.count() != 2 {
			t.Errorf("%d sends", second.count())
		}
		w.atRest()
		w.endedAs(outcomeCancelled, 1)
	})
}

// endedAs fails unless so many calls ended so.
func (w *world) endedAs(outcome string, want uint64) {
	w.t.Helper()
	var got uint64
	for _, cfg := range w.gateway.configs() {
		for _, l := range cfg.lanes {
			for ended, n := range l.Counts().Ended {
				if ended.Outcome == outcome {
					got += n
				}
			}
		}
	}
	if got != want {
		w.t.Errorf("%d calls ended as %s, want %d", got, outcome, want)
	}
}

func TestA6SecondAttemptOfAnSDKInsideTheWaitIsAnsweredLocally(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "45") })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		w.ask(10)
		a := w.ask(10, "X-Stainless-Retry-Count", "1", HeaderDeadline, "5s")
		if a.status != http.StatusTooManyRequests || a.took > 50*time.Millisecond || s.count() != 1 {
			t.Errorf("answer %d after %s and %d sends", a.status, a.took, s.count())
		}
		if after, _ := strconv.Atoi(a.header.Get("Retry-After")); after < 44 {
			t.Errorf("Retry-After %d", after)
		}
		if n := w.figures("anthropic").tally.StackedBySDK()["other"]; n != 1 {
			t.Errorf("%d stacked retries are counted", n)
		}
		w.atRest()
	})
}

// Fault A7: A 429 that means an empty purse was retried like one that means a full minute.
// Headgate: Quota is told from throttle by each provider's codes, sent once, passed on byte for byte, and the account
// is probed now and then until it has money again.
func TestA7ExhaustedQuotaIsNeverRetriedAndMarksTheAccount(t *testing.T) {
	for name, body := range map[string]string{
		"code":      `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
		"code null": `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				if n < 3 {
					fail(w, http.StatusTooManyRequests, body)
					return
				}
				fail(w, http.StatusOK, `{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			})
			simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
				ask := func() answer {
					return w.post("/openai/v1/chat/completions", `{"model":"gpt-4o","messages":[]}`, "Authorization", "Bearer sk-1")
				}
				for range 5 {
					a := ask()
					if a.status != http.StatusTooManyRequests || a.body != body || a.took > 50*time.Millisecond {
						t.Errorf("answer %d %s after %s", a.status, a.body, a.took)
					}
					if a.header.Get("X-Should-Retry") != "false" || a.header.Get("Retry-After") != "60" {
						t.Errorf("headers %v", a.header)
					}
				}
				if s.count() != 1 {
					t.Errorf("%d sends while the quota is exhausted", s.count())
				}
				if s := w.figures("openai").state(time.Now()); s.name != stateQuota || s.code != "insufficient_quota" || s.message != "You exceeded your current quota" {
					t.Errorf("the state is %+v", s)
				}
				time.Sleep(probeEvery)
				ask() // the probe finds it exhausted still
				ask()
				time.Sleep(probeEvery)
				if a := ask(); a.status != http.StatusOK || s.count() != 3 {
					t.Errorf("after the quota is back: answer %d, %d sends", a.status, s.count())
				}
				w.atRest()
			})
		})
	}
}

// Fault A17: A gateway's own 429 was no error that an SDK knows, and a provider's came out as another status, without
// its headers.
// Headgate: Headgate's refusals have the provider's own shape, whole seconds that suffice, and headers that name the
// limit and the reason; the provider's pass with status, body and headers unchanged.
func TestA17ProvidersRefusalOfAStreamPassesUnchanged(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		throttle(w, "Retry-After", "300", "Anthropic-Ratelimit-Input-Tokens-Remaining", "0", "Request-Id", "req_1", "X-Unknown", "kept")
	})
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		a := w.post(anthropicPath, streamed(10), "x-api-key", canary.Key("1"))
		if a.status != http.StatusTooManyRequests || a.body != throttled {
			t.Errorf("answer %d %s", a.status, a.body)
		}
		for name, want := range map[string]string{
			"Retry-After": "300", "Anthropic-Ratelimit-Input-Tokens-Remaining": "0", "Request-Id": "req_1", "X-Unknown": "kept",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		w.atRest()
	})
}

func TestOverloadIsRetriedWithinItsCapAndNotCountedAsThrottle(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, 529, overloaded) })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		a := w.ask(10)
		if a.status != 529 || a.body != overloaded || s.count() != 4 {
			t.Errorf("answer %d %s after %d sends", a.status, a.body, s.count())
		}
		f := w.figures("anthropic")
		if f.tally.Overloads.Load() != 4 || f.tally.TooManyRequests.Load() != 0 {
			t.Errorf("%d overloads, %d throttles", f.tally.Overloads.Load(), f.tally.TooManyRequests.Load())
		}
		w.atRest()
	})
}

func TestA5PostThatMayHaveBeenProcessedIsNeverRepeated(t *testing.T) {
	for name, do := range map[string]func(w http.ResponseWriter){
		"500": func(w http.ResponseWriter) {
			fail(w, 500, `{"type":"error","error":{"type":"api_error","message":"x"}}`)
		},
		"504":        func(w http.ResponseWriter) { fail(w, 504, "timeout") },
		"connection": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { do(w) })
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				a := w.ask(10, "Idempotency-Key", "k-1")
				if a.status < 500 || s.count() != 1 {
					t.Errorf("answer %d after %d sends", a.status, s.count())
				}
				w.atRest()
			})
		})
	}
}

func TestRefusedConnectionIsRetriedSinceNothingWasSent(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		_ = w.provider.Close()
		a := w.ask(10)
		if a.status != http.StatusBadGateway || a.took < 200*time.Millisecond {
			t.Errorf("answer %d after %s", a.status, a.took)
		}
		if n := w.figures("anthropic").tally.TransientErrors.Load(); n != 3 {
			t.Errorf("%d attempts", n)
		}
		w.atRest()
	})
}

func TestAttemptsCarryTheCallersOwnIdempotencyKeyAndNoOther(t *testing.T) {
	for _, key := range []string{"", "k-1"} {
		s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
			if n < 3 {
				throttle(w, "Retry-After", "1")
				return
			}
			answerOK(w)
		})
		simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
			var headers []string
			if key != "" {
				headers = []string{"Idempotency-Key", key}
			}
			if a := w.ask(10, headers...); a.status != http.StatusOK || s.count() != 3 {
				t.Fatalf("answer %d after %d sends", a.status, s.count())
			}
			for n, h := range s.headers {
				if h.Get("Idempotency-Key") != key || s.bodies[n] != s.bodies[0] {
					t.Errorf("attempt %d: key %q", n+1, h.Get("Idempotency-Key"))
				}
			}
		})
	}
}

func TestFullQueueRefusesAtOnceAndSaysWhichLane(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	route := anthropicRoute(perMinute("requests", plan.Requests, 1))
	route.Lanes[0].MaxDepth, route.Lanes[0].MaxWaitMillis = 1, 600_000
	route.Deadline.DefaultMillis = 600_000
	simulate(t, s, onePolicy(route), func(w *world) {
		w.ask(10)
		done := make(chan answer)
		go func() { done <- w.ask(10) }()
		time.Sleep(time.Second)
		a := w.ask(10)
		if a.status != http.StatusTooManyRequests || a.took > 50*time.Millisecond || a.header.Get(HeaderReason) != "QueueFull" {
			t.Errorf("answer %d %s after %s", a.status, a.body, a.took)
		}
		t.Log(a.body)
		if first := <-done; first.status != http.StatusOK || first.took < 59*time.Second {
			t.Errorf("the queued call got %d after %s", first.status, first.took)
		}
		w.atRest()
	})
}

func TestCallLargerThanALimitEverHoldsIsRefusedAtOnce(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 1_000))), func(w *world) {
		a := w.ask(5_000)
		if a.status != http.StatusTooManyRequests || a.header.Get(HeaderReason) != "TooLarge" || s.count() != 0 {
			t.Errorf("answer %d %s", a.status, a.body)
		}
		if got := a.header.Get("Retry-After"); got != "3600" {
			t.Errorf("Retry-After: %q; no wait cures it, so the client must not ask again soon", got)
		}
		t.Log(a.body)
		if n := w.figures("anthropic").tally.LargestTooLarge.Load(); n < 4_900 || n > 5_100 {
			t.Errorf("the largest is %d", n)
		}
		w.atRest()
	})
}
