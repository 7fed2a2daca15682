// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/plan"
)

// shelf keeps what is deferred, and no more.
type shelf struct {
	mu   sync.Mutex
	kept []*Later
	err  error
}

func (s *shelf) CheckCallback(url string, _ []string) error {
	if !strings.HasPrefix(url, "https://") {
		return errors.New("not https")
	}
	return nil
}

func (s *shelf) Take(_ context.Context, l *Later, _ *plan.Deferred) (*Promise, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	c := *l
	c.Body = append([]byte{}, l.Body...)
	s.kept = append(s.kept, &c)
	return &Promise{Location: "/_headgate/deferred/x", RetryAfter: l.Wait, Body: []byte("{}")}, nil
}

func (s *shelf) Counts(string, string) DeferredCounts { return DeferredCounts{} }

func (s *shelf) ServeHTTP(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

// deferring is a route that defers, in a bucket of one request a minute.
func deferring() plan.Route {
	l := perMinute("requests", plan.Requests, 1)
	r := anthropicRoute(l)
	r.BaseURL, r.CredentialKey = "https://one.example", "key"
	r.Deadline = plan.Deadline{DefaultMillis: 4000, OnExceeded: plan.Defer}
	r.Throttle.OnCeilingExceeded = plan.Defer
	r.Deferred = &plan.Deferred{MaxAgeSeconds: 3600, MaxAttempts: 3, MaxCalls: 10, MaxBytes: 1 << 20}
	return r
}

// TestOnlyListedHeadersAreKept of a request and its query, whatever is in it.
func TestOnlyListedHeadersAreKept(t *testing.T) {
	h := http.Header{"X-Whatever-Token": {"secret"}, "Cookie": {"secret"}, "Set-Cookie": {"secret"}, "Headgate-Callback": {"secret"}}
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Proxy-Authorization", "X-Amz-Security-Token", "X-Stainless-Lang", "User-Agent"} {
		h.Set(name, "secret")
	}
	h.Set("Content-Type", "application/json")
	h.Set("Anthropic-Version", "2023-06-01")
	h["idempotency-key"] = []string{"mine"} // as a send leaves it
	got, ok := storableHeaders(h)
	want := http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}, "Idempotency-Key": {"mine"}}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Error(diff)
	}
	for query, want := range map[string]string{
		"": "", "alt=sse&key=secret": "alt=sse", "%6Bey=secret&api-version=1": "api-version=1", "beta=true&access_token=secret": "beta=true",
	} {
		if got, ok := storableQuery(query); got != want || !ok {
			t.Errorf("%q: %q %v", query, got, ok)
		}
	}
	for _, query := range []string{"sig=secret", "alt=sse&token=x", "%zz=1", strings.Repeat("a", 2000)} {
		if got, ok := storableQuery(query); ok {
			t.Errorf("%q is kept as %q", query, got)
		}
	}
	h.Set("Anthropic-Beta", strings.Repeat("a", maxStoredValue+1))
	if _, ok := storableHeaders(h); ok {
		t.Error("a header beyond the bound is kept")
	}
}

// TestWhatIsPutOff, and what is not: calls that are no POST, are not metered to a key of the gateway's own, or whose
// route only observes.
func TestWhatIsPutOff(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Route)
		err    error
		status int
		reason string
	}{
		"a call that does not fit": {nil, nil, 202, "Deadline"},
		"no room":                  {nil, ErrDeferredFull, 429, "DeferredFull"},
		"a store that fails":       {nil, errors.New("disk full"), 429, "Deadline"},
		"a route that declines":    {func(r *plan.Route) { r.Deadline.OnExceeded, r.Deferred = "", nil }, nil, 429, "Deadline"},
		"a route without a key":    {func(r *plan.Route) { r.CredentialKey = "" }, nil, 429, "Deadline"},
		"a cause that is declined": {func(r *plan.Route) { r.Deadline.OnExceeded = "" }, nil, 429, "Deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			r := deferring()
			if c.change != nil {
				c.change(&r)
			}
			s := &shelf{err: c.err}
			simulate(t, http.NotFoundHandler(), onePolicy(r), func(w *world) {
				w.gateway.opts.Deferrals = s
				w.withKeys(map[string]string{"key": "one.example"})
				w.post("/anthropic/v1/messages", message(10), "X-Api-Key", "secret")
				got := w.post("/anthropic/v1/messages", message(10), "Anthropic-Version", "2023-06-01", "X-Api-Key", "secret")
				if got.status != c.status || got.header.Get(HeaderReason) != c.reason {
					t.Fatalf("%d %v %s", got.status, got.header, got.body)
				}
				if kept := len(s.kept) == 1; kept != (c.status == 202) {
					t.Fatalf("%d kept", len(s.kept))
				}
				if c.status == 202 {
					l := s.kept[0]
					text, _ := json.Marshal(l)
					if strings.Contains(string(text), "secret") || string(l.Body) != message(10) || l.Path != "/v1/messages" || l.Lane != "default" || l.Wait < 50*time.Second {
						t.Errorf("%s", text)
					}
				}
				w.atRest()
			})
		})
	}
}

// TestWrongCallbacksAreRefusedAtOnce, and the gateway's own paths reach the tickets.
func TestWrongCallbacksAreRefusedAtOnce(t *testing.T) {
	simulate(t, http.NotFoundHandler(), onePolicy(deferring()), func(w *world) {
		w.gateway.opts.Deferrals = &shelf{}
		if got := w.post("/anthropic/v1/messages", message(10), HeaderCallback, "http://x"); got.status != 400 || !strings.Contains(got.body, "not https") {
			t.Errorf("%d %s", got.status, got.body)
		}
		if got := w.do(context.Background(), http.MethodGet, "/_headgate/deferred/x", ""); got.status != http.StatusTeapot {
			t.Errorf("%d", got.status)
		}
		w.gateway.opts.Deferrals = nil
		if got := w.do(context.Background(), http.MethodGet, "/_headgate/deferred/x", ""); got.status != http.StatusNotFound {
			t.Errorf("%d", got.status)
		}
	})
}

// TestACallWithoutItsCallerGivesWay: where a call with a caller would find the queue full, the one without leaves it,
// and comes again; once it has left for the provider nothing ends it. It does so too where an edit sends the route elsewhere
// meanwhile.
func TestACallWithoutItsCallerGivesWay(t *testing.T) {
	for name, edits := range map[string][]string{
		"as it was": nil, "sent elsewhere": {"/moved"}, "and further": {"/moved", "/again"}, "and back": {"/moved", ""},
	} {
		t.Run(name, func(t *testing.T) { givesWay(t, edits) })
	}
}

// givesWay edits the route's base URL while a call without a caller waits.
func givesWay(t *testing.T, edits []string) {
	t.Helper()
	r := deferring()
	r.Limits = []plan.Limit{{Name: "requests", Budget: plan.Requests, Amount: 2, WindowSeconds: 60, Burst: 1}}
	r.Deadline = plan.Deadline{DefaultMillis: 60_000, OnExceeded: plan.Defer}
	r.Lanes[0].MaxDepth = 1
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"type":"message","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`))
	})
	simulate(t, answers, onePolicy(r), func(w *world) {
		w.withKeys(map[string]string{"key": "one.example"})
		later := &Later{Policy: "support", Route: "anthropic", Lane: "default", Path: "/v1/messages", Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(message(10))}
		left := 0
		opts := MakeOptions{Patience: 10 * time.Minute, MaxAnswer: 1 << 20, Sending: func() bool { left++; return true }}
		if made := w.gateway.Make(context.Background(), later, opts); !made.Final || made.Status != 200 || left != 1 || !strings.Contains(string(made.Body), "message") {
			t.Fatalf("%+v", made)
		}
		done := make(chan Made)
		go func() { done <- w.gateway.Make(context.Background(), later, opts) }()
		time.Sleep(time.Second)
		for _, path := range edits {
			edited := r
			edited.BaseURL += path
			w.gateway.Apply(onePolicy(edited), time.Now())
		}
		if got := w.post("/anthropic/v1/messages", message(10)); got.status != 200 || got.took > 31*time.Second {
			t.Errorf("the call with a caller: %d after %s: %s", got.status, got.took, got.body)
		}
		if made := <-done; made.Sent || made.Final || made.Reason != reasonGaveWay || left != 1 {
			t.Errorf("the one without: %+v", made)
		}
		if counts := w.figures("anthropic").lanes[0].Counts(); counts.Offered != 1 {
			t.Errorf("the lane counts %d calls: those without callers were counted with them", counts.Offered)
		}
		// Two attempts without a caller, and a call that was refused, had room made, and entered again.
		if limits := w.figures("anthropic").gate.Figures(time.Now()).Limits; limits[0].Name != "requests" || limits[0].Offered != 1 {
			t.Errorf("the limit counts %v requests as offered, of one", limits[0].Offered)
		}
		w.atRest()
	})
}

// TestAnswersWithoutACaller: failures for good and for now, what is too large, and a send that is not
// allowed.
func TestAnswersWithoutACaller(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		limit  int
		allow  bool
		want   Made
	}{
		"a permanent failure": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, 100, true, Made{Status: 404, Final: true, Sent: true, Reason: "Refused"}},
		"a throttle": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "77")
			w.WriteHeader(http.StatusTooManyRequests)
		}, 100, true, Made{Status: 429, Sent: true, Reason: "Throttled", Wait: 77 * time.Second}},
		"an error":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, 100, true, Made{Status: 500, Sent: true, Reason: "ProviderError"}},
		"too large":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 200)) }, 100, true, Made{Status: 200, Sent: true, TooLong: true}},
		"not allowed": {func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }, 100, false, Made{Status: statusClientLeft, Reason: outcomeCancelled}},
	} {
		t.Run(name, func(t *testing.T) {
			r := deferring()
			r.Limits = []plan.Limit{perMinute("requests", plan.Requests, 100)}
			simulate(t, c.answer, onePolicy(r), func(w *world) {
				w.withKeys(map[string]string{"key": "one.example"})
				got := w.gateway.Make(context.Background(), &Later{Route: "anthropic", Path: "/v1/messages", Body: []byte(message(10))},
					MakeOptions{Patience: time.Minute, MaxAnswer: c.limit, Sending: func() bool { return c.allow }})
				got.Header, got.Body = nil, nil
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
				w.atRest()
			})
		})
	}
}
