// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/callback"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

// watch is over what the queues of all tests log, in which no key, no prompt and no answer may stand.
var (
	watch  canary.Watch
	logged = slog.New(logs.Handler(watch.Log("the queues' log"), slog.LevelDebug))
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(watch.Over(m)) }

// memory is a store without a disk, so that time can be simulated.
type memory struct {
	mu      sync.Mutex
	records map[string][]byte
	bodies  map[string][]byte
	fail    error
}

func newMemory() *memory {
	return &memory{records: map[string][]byte{}, bodies: map[string][]byte{}}
}

// kept is how much is there: records, or bodies if there are more of them.
func (m *memory) kept() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(len(m.records), len(m.bodies))
}

func (m *memory) fails(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

func (m *memory) Now(context.Context) (time.Time, error) { return time.Now().Round(0), nil }
func (m *memory) Close() error                           { return nil }
func (m *memory) Tend(context.Context, int) ([]*ticket.Ticket, error) {
	return nil, nil
}

func (m *memory) Load(_ context.Context, f func(*ticket.Ticket)) (int, error) {
	for _, r := range m.records {
		t, err := ticket.Decode(r)
		if err != nil {
			return 0, err
		}
		f(t)
	}
	return 0, nil
}

func (m *memory) Create(ctx context.Context, t *ticket.Ticket, request []byte) error {
	m.mu.Lock()
	m.records[t.ID] = nil
	m.mu.Unlock()
	return m.Save(ctx, t, store.Bodies{Request: append([]byte{}, request...)})
}

func (m *memory) Save(_ context.Context, t *ticket.Ticket, b store.Bodies) error {
	record, err := t.Encode()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || m.fail != nil {
		return m.fail
	}
	if _, ok := m.records[t.ID]; !ok {
		return store.ErrLost
	}
	m.records[t.ID] = record
	for which, body := range map[store.Body][]byte{store.Request: b.Request, store.Answer: b.Answer} {
		if body != nil {
			m.bodies[t.ID+string(which)] = body
		}
	}
	if b.DropRequest {
		delete(m.bodies, t.ID+string(store.Request))
	}
	if b.DropAnswer {
		delete(m.bodies, t.ID+string(store.Answer))
	}
	return nil
}

func (m *memory) Read(_ context.Context, id string) (*ticket.Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.records[id]; ok {
		return ticket.Decode(r)
	}
	return nil, store.ErrUnknown
}

func (m *memory) Body(_ context.Context, id string, which store.Body) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.bodies[id+string(which)]; ok {
		return b, nil
	}
	return nil, store.ErrUnknown
}

func (m *memory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, id)
	delete(m.bodies, id+string(store.Request))
	delete(m.bodies, id+string(store.Answer))
	return m.fail
}

// provider makes calls as a test says.
type provider struct {
	bounds plan.Deferred
	mu     sync.Mutex
	seen   []proxy.Later
	at     []time.Time
	busy   int
	most   int
	answer func(n int, l *proxy.Later) proxy.Made
	took   time.Duration
}

func (p *provider) Deferred(string) *plan.Deferred { return &p.bounds }

func (p *provider) Make(ctx context.Context, l *proxy.Later, o proxy.MakeOptions) proxy.Made {
	p.mu.Lock()
	n := len(p.seen)
	p.seen, p.at = append(p.seen, *l), append(p.at, time.Now())
	p.busy++
	p.most = max(p.most, p.busy)
	answer, took := p.answer, p.took
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.busy--
		p.mu.Unlock()
	}()
	made := answer(n, l)
	if made.Sent && !o.Sending() {
		return proxy.Made{Reason: "kept"}
	}
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return proxy.Made{Sent: made.Sent, Reason: "client_cancelled"}
	}
	return made
}

// seenSoFar is what a provider has seen.
type seenSoFar struct {
	seen       []proxy.Later
	at         []time.Time
	busy, most int
}

func (p *provider) snapshot() seenSoFar {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seenSoFar{slices.Clone(p.seen), slices.Clone(p.at), p.busy, p.most}
}

// change has calls to come answered at once, and otherwise.
func (p *provider) change(answer func(int, *proxy.Later) proxy.Made) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer, p.took = answer, 0
}

func (p *provider) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seen)
}

var ok = proxy.Made{Final: true, Sent: true, Status: 200, Header: http.Header{"Content-Type": {"text/plain"}, "Set-Cookie": {"a=b"}}, Body: []byte(canary.Prompt("answer\x00\xff"))}

// room is a queue that runs in simulated time.
type room struct {
	t        *testing.T
	store    *memory
	queue    *Queue
	provider *provider
	// callbacks delivers, where a test has a receiver.
	callbacks *callback.Client
	stop      func()
}

func simulate(t *testing.T, p *provider, f func(r *room)) {
	t.Helper()
	if p.bounds.MaxCalls == 0 {
		p.bounds = plan.Deferred{MaxAgeSeconds: 3600, MaxAttempts: 4, MaxCalls: 10, MaxBytes: 1000, CallbackHosts: []string{"app.example.com"}}
	}
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, store: newMemory(), provider: p}
		r.start()
		f(r)
		r.stop()
	})
}

// start runs a queue on the store, as the first or the next process.
func (r *room) start() {
	q, err := New(r.t.Context(), Options{Store: r.store, Callbacks: r.callbacks, Log: logged, Rand: func() float64 { return 0.5 }})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); q.Run(ctx, r.provider) }()
	r.queue, r.stop = q, func() { cancel(); <-done }
	// It tends its store as it begins: beside a test's first steps that would be at one moment or another.
	synctest.Wait()
}

func (r *room) take(l proxy.Later) string {
	r.t.Helper()
	if l.Body == nil {
		l.Body = []byte(canary.Prompt("hello"))
	}
	if l.Callback != "" && !strings.Contains(l.Callback, "?") {
		l.Callback += "?token=" + canary.Key("of-the-receiver")
	}
	l.Policy, l.Route, l.Lane, l.Path = "support", "anthropic", "default", "/v1/messages"
	p, err := r.queue.Take(r.t.Context(), &l, &r.provider.bounds)
	if err != nil {
		r.t.Fatal(err)
	}
	return p.Location
}

func (r *room) ask(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.queue.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}
