// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

var canonical = []plan.Limit{
	perMinute("requests", plan.Requests, 4_000), perMinute("input-tokens", plan.InputTokens, 400_000),
}

const anthropicPath = "/anthropic/v1/messages"

// ask makes a call of so many tokens, which the simulated provider counts the same.
func (w *world) ask(tokens int, headers ...string) answer {
	headers = append(headers, "x-api-key", canary.Key("1"), "anthropic-version", "2023-06-01", "x-fake-input-tokens", strconv.Itoa(tokens))
	return w.post(anthropicPath, message(tokens), headers...)
}

func TestCallPassesAndIsCharged(t *testing.T) {
	simulate(t, fakeprovider.New(fakeprovider.Options{}), onePolicy(anthropicRoute(canonical...)), func(w *world) {
		a := w.ask(100)
		if a.err != nil || a.status != http.StatusOK || !strings.Contains(a.body, `"usage"`) {
			t.Fatalf("answer %d %q %v", a.status, a.body, a.err)
		}
		if got := w.figures("anthropic").level("input-tokens"); got > 399_900 || got < 399_899 {
			t.Errorf("the level is %v", got)
		}
		if got := w.figures("anthropic").level("requests"); got != 3999 {
			t.Errorf("the level of requests is %v", got)
		}
		w.atRest()
	})
}

func TestLargeCallOnEmptyProviderGoesAfterNineSecondsPlusJitterAndNotBefore(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	simulate(t, provider, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		provider.SetLevel(fakeprovider.InputTokens, 0)
		a := w.ask(60_000)
		if a.status != http.StatusOK || a.took < 9*time.Second || a.took > 9*time.Second*5/4 {
			t.Errorf("answer %d after %s", a.status, a.took)
		}
		if got := provider.Stats(); len(provider.Arrivals()) != 2 {
			t.Errorf("the provider saw %d sends: %+v", len(provider.Arrivals()), got)
		}
		w.atRest()
	})
}

func TestLargeCallOnEmptyPolicyBucketGoesOnceAtNineSeconds(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	simulate(t, provider, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		if a := w.ask(400_000); a.status != http.StatusOK {
			t.Fatalf("answer %d %s", a.status, a.body)
		}
		a := w.ask(60_000)
		// The mirror is kept a little inside the provider's bucket: a little later, never earlier.
		if a.status != http.StatusOK || a.took < 9*time.Second || a.took > 9300*time.Millisecond {
			t.Errorf("answer %d after %s", a.status, a.took)
		}
		if n := len(provider.Arrivals()); n != 2 {
			t.Errorf("the provider saw %d sends", n)
		}
		w.atRest()
	})
}

func TestA4AndA17DeadlineThatCannotBeMetIsAnsweredAtOnce(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	simulate(t, provider, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		w.ask(400_000)
		for _, header := range []string{HeaderDeadline, "X-Stainless-Timeout"} {
			value := "4s"
			if header != HeaderDeadline {
				value = "4"
			}
			a := w.ask(60_000, header, value)
			if a.status != http.StatusTooManyRequests || a.took >= 50*time.Millisecond {
				t.Errorf("answer %d after %s", a.status, a.took)
			}
			var body struct {
				Type  string
				Error struct{ Type, Message string }
			}
			if err := json.Unmarshal([]byte(a.body), &body); err != nil {
				t.Fatal(err)
			}
			const want = "headgate: team-support/support: anthropic/input-tokens (400k/min) is used up; fits in 9.2s, your deadline is 4s. Not sent to Anthropic."
			if body.Error.Message != want {
				t.Errorf("message %q", body.Error.Message)
			}
			if body.Type != "error" || body.Error.Type != "rate_limit_error" {
				t.Errorf("body %s", a.body)
			}
			// The whole seconds suffice: it fits in 9.2 s.
			if a.header.Get("Retry-After") != "10" || a.header.Get(HeaderLimit) != "anthropic/input-tokens" || a.header.Get("X-Should-Retry") != "false" || a.header.Get(HeaderReason) != "Deadline" {
				t.Errorf("headers %v", a.header)
			}
		}
		if n := len(provider.Arrivals()); n != 1 {
			t.Errorf("the provider saw %d sends", n)
		}
		w.atRest()
	})
}

func TestA14FourHundredCallersToldNineSecondsDoNotReturnTogether(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	var start time.Time
	front := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		if time.Since(start) < 200*time.Millisecond {
			time.Sleep(500 * time.Millisecond) // all are under way before the first is told
			throttle(w, "Retry-After", "9")
			return
		}
		provider.ServeHTTP(w, r)
	})
	simulate(t, front, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		start = w.start
		// After the nine seconds it has what the first call takes, or the others rightly went as soon as it reports more.
		provider.SetLevel(fakeprovider.Requests, 0.05)
		w.gateway.opts.Rand = goldenDraws()
		var wg sync.WaitGroup
		for range 400 {
			wg.Go(func() {
				if a := w.ask(10); a.status != http.StatusOK {
					t.Errorf("answer %d %s", a.status, a.body)
				}
			})
		}
		wg.Wait()
		perTenth := map[int64]int{}
		for _, at := range front.arrivals[400:] {
			after := at.Sub(w.start) - 500*time.Millisecond
			perTenth[after.Milliseconds()/100]++
			if after < 9*time.Second {
				t.Errorf("a call arrived %s after it was told to wait", after)
			}
		}
		for _, a := range provider.Arrivals() {
			if a.Status != http.StatusOK {
				t.Errorf("the second wave got %d", a.Status)
			}
		}
		if n := front.count(); n != 800 {
			t.Errorf("the provider saw %d calls", n)
		}
		// The bucket admits 66.67 requests a second: 6.67 in 100 ms.
		for tenth, n := range perTenth {
			if n > 8 {
				t.Errorf("%d calls arrived within the 100 ms after %d00 ms", n, tenth)
			}
		}
		w.atRest()
	})
}

// goldenDraws spreads evenly and is the same in each run.
func goldenDraws() func() float64 {
	var mu sync.Mutex
	draw := 0.0
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		draw += 0.618033988749
		draw -= float64(int(draw))
		return draw
	}
}

func TestQueuedCallsKeepTheProviderBelowItsLimit(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	p := onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 400_000)))
	simulate(t, provider, p, func(w *world) {
		var wg sync.WaitGroup
		sent := time.NewTicker(200 * time.Millisecond)
		defer sent.Stop()
		var mu sync.Mutex
		statuses := map[int]int{}
		for range 300 { // 2,000 tokens every 200 ms is 1.5 times the refill
			<-sent.C
			wg.Go(func() {
				a := w.ask(2_000)
				mu.Lock()
				defer mu.Unlock()
				statuses[a.status]++
			})
		}
		wg.Wait()
		if throttles := provider.Stats(); statuses[http.StatusOK] < 250 {
			t.Errorf("statuses %v, provider %+v", statuses, throttles)
		}
		for _, a := range provider.Arrivals() {
			if a.Status != http.StatusOK {
				t.Errorf("the provider answered %d after %s", a.Status, time.Unix(0, a.TimeUnixNano).Sub(w.start))
			}
		}
		w.atRest()
	})
}
