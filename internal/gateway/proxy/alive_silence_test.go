// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestB14SilenceIsCountedFromTheCallOverItsSends: what a provider took to refuse a call is silence that its client has borne
// already. A call that waits no more after it has its status.
func TestB14SilenceIsCountedFromTheCallOverItsSends(t *testing.T) {
	form := aliveForms["Anthropic"]
	const queued = 9900 * time.Millisecond
	for name, tc := range map[string]struct {
		queued, refuses time.Duration
		after           string // Retry-After of the refusal; "" is one that is final
		first           time.Duration
		pings           int
	}{
		"queued, refused late, and asked to wait": {queued, 14 * time.Second, "25", 23900 * time.Millisecond, 3},
		"sent at once, refused late":              {0, 14 * time.Second, "25", 14 * time.Second, 3},
		"refused within the time":                 {0, 4 * time.Second, "25", plan.PingEvery, 2},
		"queued, refused soon after":              {queued, 50 * time.Millisecond, "25", plan.PingEvery, 3},
		"refused late, for good":                  {queued, 14 * time.Second, "", 23900 * time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			refused := false
			refuseOnce := func(w http.ResponseWriter, _ *http.Request) {
				if refused {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, form.answer)
					return
				}
				refused = true
				time.Sleep(tc.refuses)
				if tc.after == "" {
					fail(w, http.StatusTeapot, "{}")
					return
				}
				fail(w, http.StatusTooManyRequests, throttled, "Retry-After", tc.after)
			}
			s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) { refuseOnce(w, r) })
			if tc.queued > 0 {
				s = behind(tc.queued, refuseOnce)
			}
			r := slotOf(form.route, form.dialect, 2*time.Minute)
			r.Throttle.JitterPercent = 0
			simulate(t, s, onePolicy(r), func(w *world) {
				hear := func() {
					l := w.listen(w.t.Context(), form.path, form.body)
					status, text := http.StatusOK, strings.Repeat(form.ping, tc.pings)+form.answer
					if tc.after == "" {
						status, text = http.StatusTeapot, "{}"
					}
					if l.status != status || l.err != nil || l.headed != tc.first || l.text != text {
						t.Errorf("answer %d after %s %q: %v", l.status, l.headed, l.text, l.err)
					}
				}
				if tc.queued > 0 {
					w.occupied(form.path, form.body, hear)
				} else {
					hear()
				}
				w.atRest()
			})
		})
	}
}

// TestB14SilenceIsCountedFromTheCallOverItsRoutes: a call that fails over has come when it came to the first.
func TestB14SilenceIsCountedFromTheCallOverItsRoutes(t *testing.T) {
	form := aliveForms["Anthropic"]
	p := &providers{
		first: scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
			time.Sleep(14 * time.Second)
			fail(w, http.StatusTooManyRequests, providerFull, "Retry-After", "500")
		}),
		second: behind(30*time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, form.answer)
		}),
	}
	simulate(t, p, pair(func(a, b *plan.Route) {
		on, to, throttle := a.BaseURL, b.BaseURL, a.Throttle
		*a, *b = slotOf("anthropic", "Anthropic", 2*time.Minute), slotOf("second", "Anthropic", 2*time.Minute)
		a.BaseURL, b.BaseURL, a.Throttle = on, to, throttle
	}), func(w *world) {
		w.occupied("/second/v1/messages", form.body, func() {
			l := w.listen(w.t.Context(), form.path, form.body)
			if l.status != http.StatusOK || l.err != nil || l.headed != 14*time.Second || l.text != strings.Repeat(form.ping, 2)+form.answer {
				t.Errorf("answer %d after %s %q: %v", l.status, l.headed, l.text, l.err)
			}
		})
		w.atRest()
	})
}
