// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
)

func idOf(location string) string { return strings.TrimPrefix(location, pathPrefix) }

// TestAnswersComeBackByteForByte, with the provider's status and headers, and without its cookies.
func TestAnswersComeBackByteForByte(t *testing.T) {
	simulate(t, &provider{took: time.Second, answer: func(int, *proxy.Later) proxy.Made { return ok }}, func(r *room) {
		at := r.take(proxy.Later{Body: []byte("body"), Wait: 20 * time.Second})
		first := r.ask(http.MethodGet, at)
		var d description
		if err := json.Unmarshal(first.Body.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		if first.Code != 202 || first.Header().Get("Retry-After") != "20" || d.Location != at || d.State != "Waiting" ||
			!strings.Contains(d.Note, "not the deletion of the pod") || !strings.Contains(d.Note, "this pod only") {
			t.Errorf("%d %v %s", first.Code, first.Header(), first.Body)
		}
		time.Sleep(time.Minute)
		got := r.ask(http.MethodGet, at)
		if got.Code != 200 || got.Body.String() != string(ok.Body) || got.Header().Get("Content-Type") != "text/plain" ||
			got.Header().Get("Set-Cookie") != "" || got.Header().Get(HeaderState) != "Done" {
			t.Errorf("%d %v %q", got.Code, got.Header(), got.Body)
		}
		if again := r.ask(http.MethodDelete, at); again.Code != 204 {
			t.Errorf("DELETE: %d", again.Code)
		}
		if gone := r.ask(http.MethodGet, at); gone.Code != 404 || r.store.kept() != 0 {
			t.Errorf("after DELETE: %d, %d records", gone.Code, r.store.kept())
		}
		if w := r.ask(http.MethodPut, at); w.Code != 405 {
			t.Errorf("PUT: %d", w.Code)
		}
		if w := r.ask(http.MethodGet, pathPrefix+"../secrets"); w.Code != 404 {
			t.Errorf("a path that is no ticket: %d", w.Code)
		}
	})
}

// TestEveryAttemptHasTheSameKey: the caller's own, else the ticket's ID, also after a restart.
func TestEveryAttemptHasTheSameKey(t *testing.T) {
	fails := func(n int, _ *proxy.Later) proxy.Made { return proxy.Made{Sent: true, Reason: "ProviderError"} }
	for own, header := range map[string]http.Header{"": nil, "mine": {"Idempotency-Key": {"mine"}}} {
		simulate(t, &provider{answer: fails}, func(r *room) {
			at := r.take(proxy.Later{Header: header})
			time.Sleep(1200 * time.Millisecond)
			r.stop()
			before := r.provider.calls()
			r.start()
			time.Sleep(time.Minute)
			want := own
			if want == "" {
				want = idOf(at)
			}
			if before == 0 || r.provider.calls() <= before {
				t.Fatalf("%d attempts before the restart, %d in all", before, r.provider.calls())
			}
			for i, l := range r.provider.snapshot().seen {
				if got := l.Header["Idempotency-Key"]; len(got) != 1 || got[0] != want {
					t.Errorf("attempt %d: %v, want %s", i, got, want)
				}
			}
		})
	}
}

// TestAttemptsAreBoundedOverRestarts: one that ends the process counts, since it is noted before it leaves.
func TestAttemptsAreBoundedOverRestarts(t *testing.T) {
	p := &provider{took: time.Hour, answer: func(int, *proxy.Later) proxy.Made { return ok }}
	simulate(t, p, func(r *room) {
		at := r.take(proxy.Later{})
		for n := range 4 {
			time.Sleep(30 * time.Second)
			r.stop()
			if n == 3 {
				p.change(func(int, *proxy.Later) proxy.Made { return proxy.Made{Sent: true, Reason: "ProviderError"} })
			}
			r.start()
		}
		time.Sleep(10 * time.Minute)
		if w := r.ask(http.MethodGet, at); w.Code != 410 || !strings.Contains(w.Body.String(), `"AttemptsExhausted"`) || !strings.Contains(w.Body.String(), "ProviderError") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// TestACallThatEndsEachGatewayIsGivenUp after twice the policy's attempts: cut off attempts are made again, not for ever.
func TestACallThatEndsEachGatewayIsGivenUp(t *testing.T) {
	p := &provider{took: time.Hour, answer: func(int, *proxy.Later) proxy.Made { return ok }}
	simulate(t, p, func(r *room) {
		at := r.take(proxy.Later{})
		for range 12 {
			time.Sleep(30 * time.Second)
			r.stop()
			r.start()
		}
		if n := p.calls(); n != 8 {
			t.Errorf("%d attempts of at most 4 and as many that were cut off", n)
		}
		if w := r.ask(http.MethodGet, at); w.Code != 410 || !strings.Contains(w.Body.String(), `"AttemptsExhausted"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// TestWaitsOfProvidersAreKept exactly or longer, and the backoff grows.
func TestWaitsOfProvidersAreKept(t *testing.T) {
	p := &provider{answer: func(n int, _ *proxy.Later) proxy.Made {
		if n == 0 {
			return proxy.Made{Sent: true, Reason: "Throttled", Wait: 90 * time.Second}
		}
		return ok
	}}
	simulate(t, p, func(r *room) {
		at := r.take(proxy.Later{Sends: 1, Wait: 40 * time.Second})
		begun := time.Now()
		time.Sleep(10 * time.Minute)
		if got := p.snapshot().at[0].Sub(begun); got < 40*time.Second {
			t.Errorf("the first attempt after %s of 40s", got)
		}
		if got := p.snapshot().at[1].Sub(p.snapshot().at[0]); got < 90*time.Second || got > 120*time.Second {
			t.Errorf("the second after %s of 90s", got)
		}
		if w := r.ask(http.MethodGet, at); w.Code != 200 {
			t.Errorf("%d", w.Code)
		}
	})
}

// TestAgesEnd: a call that is not made becomes a dead letter, which is forgotten after as long; an answer expires too.
func TestAgesEnd(t *testing.T) {
	held := func(int, *proxy.Later) proxy.Made { return proxy.Made{Reason: "Deadline", Wait: time.Hour} }
	for name, c := range map[string]struct {
		answer func(int, *proxy.Later) proxy.Made
		reason string
	}{
		"a call":    {held, "Expired"},
		"an answer": {func(int, *proxy.Later) proxy.Made { return ok }, "AnswerExpired"},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, &provider{answer: c.answer}, func(r *room) {
				at := r.take(proxy.Later{})
				time.Sleep(62 * time.Minute)
				if w := r.ask(http.MethodGet, at); w.Code != 410 || !strings.Contains(w.Body.String(), `"`+c.reason+`"`) {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				time.Sleep(62 * time.Minute)
				if w := r.ask(http.MethodGet, at); w.Code != 404 || r.store.kept() != 0 {
					t.Errorf("%d, %d records", w.Code, r.store.kept())
				}
			})
		})
	}
}

// TestRoomIsBounded by calls and by bytes, and comes back.
func TestRoomIsBounded(t *testing.T) {
	p := &provider{took: time.Minute, answer: func(int, *proxy.Later) proxy.Made { return ok }}
	simulate(t, p, func(r *room) {
		var at []string
		for range 10 {
			at = append(at, r.take(proxy.Later{Body: []byte("x")}))
		}
		full := func(body string) bool {
			_, err := r.queue.Take(t.Context(), &proxy.Later{Policy: "support", Route: "anthropic", Path: "/", Body: []byte(body)}, &p.bounds)
			return errors.Is(err, proxy.ErrDeferredFull)
		}
		if !full("x") {
			t.Error("an eleventh call was taken")
		}
		if c := r.queue.Counts("support", "anthropic"); c.Waiting != 10 || c.Outcomes["full"] != 1 || c.Outcomes["accepted"] != 10 {
			t.Errorf("%+v", c)
		}
		r.ask(http.MethodDelete, at[0])
		if !full(strings.Repeat("x", 1000)) || full("x") {
			t.Error("bytes are not bounded, or room did not come back")
		}
		synctest.Wait()
		if p.snapshot().most > maxMakingRoute {
			t.Errorf("%d calls at once", p.snapshot().most)
		}
	})
}

// TestReplayTriesADeadLetterAnew with the same key, and refuses what is no dead letter.
func TestReplayTriesADeadLetterAnew(t *testing.T) {
	p := &provider{answer: func(n int, _ *proxy.Later) proxy.Made {
		if n < 4 {
			return proxy.Made{Sent: true, Reason: "Overloaded"}
		}
		return ok
	}}
	simulate(t, p, func(r *room) {
		at := r.take(proxy.Later{})
		if err := r.queue.Replay(t.Context(), idOf(at)); err == nil {
			t.Error("a call that waits was replayed")
		}
		time.Sleep(5 * time.Minute)
		list := r.queue.List()
		if len(list) != 1 || list[0].State != "DeadLetter" || list[0].Reason != "AttemptsExhausted" || list[0].Attempts != 4 {
			t.Fatalf("%+v", list)
		}
		if err := r.queue.Replay(t.Context(), idOf(at)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if w := r.ask(http.MethodGet, at); w.Code != 200 || p.snapshot().seen[4].Header.Get("Idempotency-Key") != idOf(at) {
			t.Errorf("%d %v", w.Code, p.snapshot().seen[4].Header)
		}
	})
}

// TestCancelEndsACallUnderWay.
func TestCancelEndsACallUnderWay(t *testing.T) {
	p := &provider{took: time.Hour, answer: func(int, *proxy.Later) proxy.Made { return ok }}
	simulate(t, p, func(r *room) {
		at := r.take(proxy.Later{})
		time.Sleep(time.Second)
		if p.calls() != 1 || r.ask(http.MethodDelete, at).Code != 204 {
			t.Fatal("not under way, or not cancelled")
		}
		synctest.Wait()
		if p.snapshot().busy != 0 || r.ask(http.MethodGet, at).Code != 404 || r.store.kept() != 0 {
			t.Errorf("%d under way, %d records", p.snapshot().busy, r.store.kept())
		}
	})
}

// TestAStoreThatFailsDeclines, and what it may have stored is removed when it is back.
func TestAStoreThatFailsDeclines(t *testing.T) {
	simulate(t, &provider{answer: func(int, *proxy.Later) proxy.Made { return ok }}, func(r *room) {
		r.store.fails(errors.New("disk full"))
		_, err := r.queue.Take(t.Context(), &proxy.Later{Policy: "support", Route: "anthropic", Path: "/"}, &r.provider.bounds)
		if err == nil || errors.Is(err, proxy.ErrDeferredFull) || r.store.kept() != 1 {
			t.Fatalf("%v, %d records", err, r.store.kept())
		}
		r.store.fails(nil)
		time.Sleep(2 * tendEvery)
		if r.store.kept() != 0 || r.provider.calls() != 0 {
			t.Errorf("%d records, %d calls", r.store.kept(), r.provider.calls())
		}
	})
}

// TestDeadLettersAreBounded: the oldest go.
func TestDeadLettersAreBounded(t *testing.T) {
	p := &provider{
		bounds: plan.Deferred{MaxAgeSeconds: 3600, MaxAttempts: 1, MaxCalls: 1000, MaxBytes: 1 << 20},
		answer: func(int, *proxy.Later) proxy.Made { return proxy.Made{Sent: true, Reason: "ProviderError"} },
	}
	simulate(t, p, func(r *room) {
		for range maxDead + 20 {
			r.take(proxy.Later{})
			time.Sleep(time.Second)
		}
		if c := r.queue.Counts("support", "anthropic"); c.DeadLetters != maxDead || r.store.kept() != maxDead {
			t.Errorf("%+v, %d records", c, r.store.kept())
		}
	})
}

// TestAnswersThatAreTooLongAreSaidSo, once: the call is not made again.
func TestAnswersThatAreTooLongAreSaidSo(t *testing.T) {
	p := &provider{answer: func(int, *proxy.Later) proxy.Made { return proxy.Made{Sent: true, TooLong: true} }}
	simulate(t, p, func(r *room) {
		at := r.take(proxy.Later{})
		time.Sleep(10 * time.Minute)
		if w := r.ask(http.MethodGet, at); w.Code != 410 || !strings.Contains(w.Body.String(), "AnswerTooLarge") || p.calls() != 1 {
			t.Errorf("%d %s after %d calls", w.Code, w.Body, p.calls())
		}
	})
}
