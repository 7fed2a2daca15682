// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// TestA14RetriesSpreadGoThroughAdmissionAgainAndHoldTheOthers: fifty calls are told ten seconds at once.
//
// Fault A14: Callers that were told the same wait all came back in the same moment and were refused again together.
// Headgate: Nobody returns before the time, retries are spread and go through admission and its rate again, and calls
// that come meanwhile wait behind the same refusal.
func TestA14RetriesSpreadGoThroughAdmissionAgainAndHoldTheOthers(t *testing.T) {
	const callers, perSecond = 50, 10
	var others []time.Time
	var mu sync.Mutex
	s := scripted(func(n int, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Later") != "" {
			mu.Lock()
			others = append(others, time.Now())
			mu.Unlock()
		}
		if n <= callers {
			time.Sleep(100 * time.Millisecond) // all are under way before the first is told
			throttle(w, "Retry-After", "10")
			return
		}
		answerOK(w)
	})
	simulate(t, s, onePolicy(anthropicRoute(perMinute("requests", plan.Requests, perSecond*60))), func(w *world) {
		w.gateway.opts.Rand = goldenDraws()
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				if a := w.ask(10); a.status != http.StatusOK {
					t.Errorf("answer %d %s", a.status, a.body)
				}
			})
		}
		time.Sleep(time.Second)
		all.Go(func() {
			if a := w.ask(10, "X-Later", "1"); a.status != http.StatusOK {
				t.Errorf("a call that came meanwhile: answer %d %s", a.status, a.body)
			}
		})
		all.Wait()
		told := w.start.Add(100 * time.Millisecond)
		perTenth := map[int64]int{}
		for i, at := range s.arrivals[callers:] {
			after := at.Sub(told)
			if after < 10*time.Second && (len(others) != 1 || !at.Equal(others[0])) {
				t.Errorf("send %d came %s after it was told to wait 10 s", i, after)
			}
			perTenth[after.Milliseconds()/100]++
		}
		for tenth, n := range perTenth {
			// The jitter's window is 2.5 s, and the bucket admits one in 100 ms: what it held is used up by then.
			if n > 4 {
				t.Errorf("%d came within the 100 ms after %d00 ms", n, tenth)
			}
		}
		if len(others) != 1 || others[0].Sub(told) < 9*time.Second {
			t.Errorf("a call that came meanwhile was sent after %v, into the wall", others)
		}
		if spent := w.figures("anthropic").spent("requests"); spent != 2*callers+1 {
			t.Errorf("%v requests are charged for %d sends", spent, s.count())
		}
		w.atRest()
	})
}

// TestA14WaitsGrowThoughTheProviderSaysTheSameEachTime: repeated guidance does not stop growth.
func TestA14WaitsGrowThoughTheProviderSaysTheSameEachTime(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "1") })
	route := anthropicRoute()
	route.Throttle.MaxAttempts, route.Unguided.BaseMillis = 6, 1000
	simulate(t, s, onePolicy(route), func(w *world) {
		w.gateway.opts.Rand = func() float64 { return 0.999999 }
		a := w.ask(10)
		if a.status != http.StatusTooManyRequests || s.count() < 5 {
			t.Fatalf("answer %d after %d sends", a.status, s.count())
		}
		for n := 1; n < s.count(); n++ {
			// Full jitter draws up to base·2^(attempt-1).
			if want := time.Duration(0.99 * float64(time.Second) * math.Exp2(float64(n-1))); s.gap(n) < want {
				t.Errorf("send %d came %s after the one before, want %s", n+1, s.gap(n), want)
			}
		}
		w.atRest()
	})
}

// TestA4AndA14RetryKeepsItsDeadlineAndItsCountAndHoldsNoSlot: while it waits another call has the only slot.
func TestA4AndA14RetryKeepsItsDeadlineAndItsCountAndHoldsNoSlot(t *testing.T) {
	one := plan.Limit{Name: "in-flight", Budget: plan.InFlight, Amount: 1, Burst: 1}
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Other") != "" {
			time.Sleep(time.Second)
			answerOK(w)
			return
		}
		throttle(w, "Retry-After", "4")
	})
	route := anthropicRoute(one)
	route.Throttle.MaxAttempts = 10
	simulate(t, s, onePolicy(route), func(w *world) {
		w.gateway.opts.Rand = func() float64 { return 0 }
		done := make(chan answer)
		go func() { done <- w.ask(10, HeaderDeadline, "15s", "X-Model", "a") }()
		time.Sleep(time.Second)
		if level := w.figures("anthropic").level("in-flight"); level != 1 {
			t.Errorf("a call that waits to be sent again holds %v of the slot", 1-level)
		}
		// Another model's, which the refusal says nothing of.
		other := w.post(anthropicPath, strings.Replace(message(10), "claude-sonnet-4-5", "claude-haiku-4-5", 1), "x-api-key", canary.Key("1"), "X-Other", "1")
		if other.status != http.StatusOK || other.took > 1100*time.Millisecond {
			t.Errorf("another call: answer %d after %s", other.status, other.took)
		}
		// At 0, 4, 8 and 12 s; the next would be at 16 s, and a deadline counted anew would allow it.
		a := <-done
		if a.status != http.StatusTooManyRequests || a.took > 13*time.Second || s.count() != 1+4 {
			t.Errorf("answer %d after %s and %d sends", a.status, a.took, s.count()-1)
		}
		if got := w.figures("anthropic").tally.Attempts(); got[4] != 1 || got[1] != 1 {
			t.Errorf("attempts %v", got)
		}
		w.atRest()
	})
}

// TestB14SilenceWhileQueuedEndsBeforeClientsGiveUp: a call that was taken in, and then cannot go, is told so.
//
// Fault B14: A call that waited in a queue for longer than its client's patience was abandoned there and sent all the
// same.
// Headgate: The longest wait in a queue is shorter than clients' patience by default and ends in a 429 with
// Retry-After; a lane may have the clients of streams hear a comment every 10 s instead, behind which a failure is an error
// event of the provider's shape.
func TestB14SilenceWhileQueuedEndsBeforeClientsGiveUp(t *testing.T) {
	s := scripted(fine)
	route := func(amount int64) *plan.Plan {
		r := anthropicRoute(perMinute("input-tokens", plan.InputTokens, amount))
		r.Deadline.DefaultMillis = 600_000
		return onePolicy(r)
	}
	simulate(t, s, route(6000), func(w *world) {
		w.ask(5990)
		// 90 s are too long for the lane's queue, and that is said at once.
		if a := w.ask(5990, HeaderDeadline, "90s"); a.status != http.StatusTooManyRequests || a.took > 50*time.Millisecond {
			t.Errorf("answer %d after %s", a.status, a.took)
		}
		done := make(chan answer)
		go func() { done <- w.ask(4000) }()
		time.Sleep(10 * time.Second)
		w.gateway.Apply(route(4500), time.Now()) // slower than it was when the call was taken in
		a := <-done
		after, err := strconv.Atoi(a.header.Get("Retry-After"))
		reason := a.header.Get(HeaderReason)
		if a.status != http.StatusTooManyRequests || a.took >= time.Minute || err != nil || after < 1 || a.header.Get("X-Should-Retry") != "false" {
			t.Errorf("answer %d %v after %s", a.status, a.header, a.took)
		}
		if reason != "QueueExpired" && reason != "Deadline" {
			t.Errorf("reason %s: %s", reason, a.body)
		}
		if s.count() != 1 {
			t.Errorf("%d sends", s.count())
		}
		w.atRest()
	})
}

// TestC12EditsOfARouteUnderLoadNeverRefillAndFreezeNobody: a hundred edits in a minute, limits and lanes that come and go.
func TestC12EditsOfARouteUnderLoadNeverRefillAndFreezeNobody(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	edited := func(i int) *plan.Plan {
		r := anthropicRoute(perMinute("requests", plan.Requests, 60))
		r.Throttle.MaxAttempts = int32(2 + i%3)
		switch i % 4 {
		case 1:
			r.Limits = nil
		case 2:
			r.Limits = append(r.Limits, perMinute("input-tokens", plan.InputTokens, 1e6))
			r.Lanes = append([]plan.Lane{{Name: "new", Header: &plan.Header{Name: "X-New"}, MaxDepth: 5, MaxWaitMillis: 50_000}}, r.Lanes...)
		case 3:
			r.Limits[0].Amount, r.Limits[0].Burst = 30, 30
		}
		if i%4 == 1 {
			r.Limits = []plan.Limit{perMinute("requests", plan.Requests, 60)} // the limit comes back under its name
		}
		return onePolicy(r)
	}
	simulate(t, s, edited(0), func(w *world) {
		var all sync.WaitGroup
		for i := range 100 {
			for range 3 {
				all.Go(func() { w.ask(1, HeaderDeadline, "20s", "X-New", "1") })
			}
			time.Sleep(600 * time.Millisecond)
			w.gateway.Apply(edited(i), time.Now())
		}
		sent := s.count()
		if most := 60 + 60 + 1; sent > most || sent < 60 {
			t.Errorf("%d calls went in a minute of 60 a minute and a burst of 60", sent)
		}
		all.Wait()
		w.atRest()
		// 0 lets nothing pass, and what follows begins from there.
		none := onePolicy(anthropicRoute(perMinute("requests", plan.Requests, 0)))
		w.gateway.Apply(none, time.Now())
		if a := w.ask(1); a.status != http.StatusTooManyRequests || a.header.Get(HeaderReason) != "NothingPasses" {
			t.Errorf("with an amount of 0: answer %d %v", a.status, a.header)
		}
		w.gateway.Apply(onePolicy(anthropicRoute(perMinute("requests", plan.Requests, 150))), time.Now())
		if level := w.figures("anthropic").level("requests"); level > 1 {
			t.Errorf("an edit from 0 to 150 fills the bucket to %v", level)
		}
		if a := w.ask(1); a.status != http.StatusOK || a.took > 2*time.Second {
			t.Errorf("after it: answer %d in %s", a.status, a.took)
		}
		w.atRest()
	})
}

// TestC12CallsThatBeganUnderAnotherPlanAreServedUnderTheNext: their lane may be gone when they enter the queue.
func TestC12CallsThatBeganUnderAnotherPlanAreServedUnderTheNext(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	many := anthropicRoute(perMinute("requests", plan.Requests, 60))
	last := many.Lanes[0]
	many.Lanes = nil
	for i := range plan.MaxLanes - 1 {
		many.Lanes = append(many.Lanes, plan.Lane{Name: fmt.Sprint("lane-", i), Models: []string{fmt.Sprint("none-", i)}, MaxDepth: 5, MaxWaitMillis: 50_000})
	}
	many.Lanes = append(many.Lanes, last)
	simulate(t, s, onePolicy(many), func(w *world) {
		conn := w.dialled()
		defer func() { _ = conn.Close() }()
		body := message(10)
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: sk-1\r\nContent-Length: %d\r\n\r\n%s", anthropicPath, len(body), body[:10])
		synctest.Wait()
		w.gateway.Apply(onePolicy(anthropicRoute(perMinute("requests", plan.Requests, 60))), time.Now())
		_, _ = conn.Write([]byte(body[10:]))
		answer := make([]byte, 15)
		if _, err := conn.Read(answer); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Errorf("%s %v", answer, err)
		}
		_ = conn.Close()
		time.Sleep(time.Second)
		w.atRest()
	})
}

// TestC14QueueOfClientsThatLeftMakesRoomAtOnce for one that is there.
func TestC14QueueOfClientsThatLeftMakesRoomAtOnce(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	route := anthropicRoute(perMinute("requests", plan.Requests, 6))
	route.Lanes[0].MaxDepth = 4
	simulate(t, s, onePolicy(route), func(w *world) {
		for range 6 {
			w.ask(1)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { w.do(ctx, http.MethodPost, anthropicPath, message(1), "x-api-key", canary.Key("1")) })
		}
		time.Sleep(time.Second)
		if a := w.ask(1); a.header.Get(HeaderReason) != "QueueFull" {
			t.Errorf("the queue is not full: answer %d %v", a.status, a.header)
		}
		cancel()
		all.Wait()
		synctest.Wait()
		start := time.Now()
		if a := w.ask(1); a.status != http.StatusOK || time.Since(start) > 9*time.Second+100*time.Millisecond {
			t.Errorf("a live client got %d after %s", a.status, time.Since(start))
		}
		if s.count() != 7 {
			t.Errorf("%d sends: who left was sent", s.count())
		}
		w.atRest()
	})
}

// TestC14LowLaneGoesOnUnderASteadyHighOne, by its own share, also where it must collect for a large call.
func TestC14LowLaneGoesOnUnderASteadyHighOne(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) { fine(0, w, r) })
	route := anthropicRoute(perMinute("input-tokens", plan.InputTokens, 60_000))
	route.Deadline.DefaultMillis = 300_000
	high := plan.Lane{Name: "high", Header: &plan.Header{Name: "X-High"}, Priority: 100, SharePermille: 700, MaxDepth: 100, MaxWaitMillis: 20_000}
	low := plan.Lane{Name: plan.DefaultLane, Priority: -100, SharePermille: 300, MaxDepth: 100, MaxWaitMillis: 300_000}
	route.Lanes = []plan.Lane{high, low}
	simulate(t, s, onePolicy(route), func(w *world) {
		stop := time.Now().Add(5 * time.Minute)
		var all sync.WaitGroup
		all.Go(func() {
			for time.Now().Before(stop) { // half again as much as refills
				all.Go(func() { w.ask(300, "X-High", "1") })
				time.Sleep(200 * time.Millisecond)
			}
		})
		time.Sleep(time.Minute)
		for range 3 {
			// 12,000 of 300 a second: 40 s at most, and a little for what is estimated.
			if a := w.ask(12_000); a.status != http.StatusOK || a.took > 44*time.Second {
				t.Errorf("a call of the low lane got %d after %s: %s", a.status, a.took, a.body)
			}
		}
		all.Wait()
		w.atRest()
	})
}

// TestLargestOutputThatAnyFieldAllowsIsReserved where the provider takes it at admission, and edges break nothing.
func TestLargestOutputThatAnyFieldAllowsIsReserved(t *testing.T) {
	const openai, gemini, azure = "/openai/v1/chat/completions", "/gemini/v1beta/models/g:generateContent", "/azure/openai/deployments/d/chat/completions"
	for name, tc := range map[string]struct {
		path, body string
		want       float64
	}{
		"one field":                    {openai, `{"model":"m","max_tokens":100,"messages":[]}`, 100},
		"two fields":                   {openai, `{"model":"m","max_tokens":100,"max_completion_tokens":400,"messages":[]}`, 400},
		"two fields, the other way":    {openai, `{"model":"m","max_completion_tokens":100,"max_tokens":400,"messages":[]}`, 400},
		"and choices":                  {openai, `{"model":"m","max_tokens":100,"n":3,"messages":[]}`, 300},
		"the better of choices":        {"/openai/v1/completions", `{"model":"m","max_tokens":100,"n":2,"best_of":5,"prompt":""}`, 500},
		"a response":                   {"/openai/v1/responses", `{"model":"m","max_output_tokens":250,"input":""}`, 250},
		"a deployment's":               {azure, `{"max_tokens":70,"max_completion_tokens":80,"messages":[]}`, 80},
		"candidates":                   {gemini, `{"generationConfig":{"maxOutputTokens":100,"candidateCount":4},"contents":[]}`, -1},
		"more than the limit":          {openai, `{"model":"m","max_tokens":128000,"messages":[]}`, 8000},
		"more than any number":         {openai, `{"model":"m","max_tokens":9223372036854775807,"n":9223372036854775807,"messages":[]}`, 8000},
		"a number with an exponent":    {openai, `{"model":"m","max_tokens":1e308,"messages":[]}`, 8000},
		"a number too large to be one": {openai, `{"model":"m","max_tokens":1e999,"messages":[]}`, -1},
		"below zero":                   {openai, `{"model":"m","max_tokens":-5,"n":-3,"messages":[]}`, -1},
		"no number":                    {openai, `{"model":"m","max_tokens":"many","n":{},"messages":[]}`, -1},
		"nothing":                      {openai, `{"model":"m","messages":[]}`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				time.Sleep(10 * time.Second)
				fail(w, http.StatusOK, `{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			})
			output := perMinute("output", plan.OutputTokens, 8000)
			simulate(t, s, onePolicy(openaiRoute(output), routeTo("gemini", "Gemini", output), routeTo("azure", "AzureOpenAI", output)), func(w *world) {
				done := make(chan answer)
				go func() { done <- w.post(tc.path, tc.body) }()
				synctest.Wait()
				route, _, _ := strings.Cut(tc.path[1:], "/")
				limit := w.figures(route).gate.Figures(time.Now()).Limits[0]
				// Where no field says it, a small default is reserved that the limit could admit.
				if tc.want >= 0 && limit.Reserved != tc.want || limit.Reserved <= 0 || limit.Reserved > 8000 || math.IsNaN(limit.Level) {
					t.Errorf("%v is reserved, want %v; the level is %v", limit.Reserved, tc.want, limit.Level)
				}
				if a := <-done; a.status != http.StatusOK {
					t.Errorf("answer %d %s", a.status, a.body)
				}
				if level := w.figures(route).level("output"); math.IsNaN(level) || level > 8000 || level < -1 {
					t.Errorf("the level is %v", level)
				}
				w.atRest()
			})
		})
	}
}
