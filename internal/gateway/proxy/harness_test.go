// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

// shown is what the gateway logs of all calls, in which no key and no prompt may stand.
var (
	shown  canary.Watch
	logged = shown.Log("the log")
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(shown.Over(m)) }

// pipes is a listener whose connections never leave the process, so that time can be simulated.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// world is a gateway between a client and a provider, all in one process.
type world struct {
	t        *testing.T
	gateway  *Gateway
	client   *http.Client
	upstream *http.Transport
	provider *pipes
	start    time.Time
}

// simulate runs f in a bubble of simulated time.
func simulate(t *testing.T, provider http.Handler, p *plan.Plan, f func(w *world), with ...func(*Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, provider, p, with...)
		defer w.close()
		f(w)
	})
}

func byName(name string) (dialect.Dialect, bool) {
	d := registry.ByName(name)
	return d, d != nil
}

func newWorld(t *testing.T, provider http.Handler, p *plan.Plan, with ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, provider: newPipes(), start: time.Now()}
	serve(t, provider, w.provider)
	transport, err := upstream.NewTransport(upstream.Options{Dial: w.provider.dial})
	if err != nil {
		t.Fatal(err)
	}
	transport.Proxy = nil
	w.upstream = transport
	opts := Options{
		Dialect: byName, Transport: transport, Memory: spool.NewBudget(256 << 20),
		Log: slog.New(logs.Handler(logged, slog.LevelDebug)), Namespace: "team-support", Rand: func() float64 { return 0.5 },
	}
	for _, change := range with {
		change(&opts)
	}
	w.gateway = New(opts)
	w.gateway.Apply(p, time.Now())
	front := newPipes()
	serve(t, w.gateway, front)
	w.client = &http.Client{Transport: &http.Transport{DialContext: front.dial, DisableCompression: true, MaxIdleConnsPerHost: 500}}
	return w
}

func serve(t *testing.T, h http.Handler, l *pipes) {
	t.Helper()
	srv := &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(logs.Handler(logged, slog.LevelDebug), slog.LevelError)}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close(); _ = l.Close() })
}

func (w *world) close() {
	w.client.CloseIdleConnections()
	w.upstream.CloseIdleConnections()
	for _, cfg := range w.gateway.configs() {
		cfg.gate.Close()
	}
	// The servers wait for half a second when they close a connection in the middle of a request.
	time.Sleep(time.Second)
}

// answer is a response with its body.
type answer struct {
	status int
	header http.Header
	body   string
	took   time.Duration
	err    error
}

func (w *world) post(path, body string, headers ...string) answer {
	return w.do(context.Background(), http.MethodPost, path, body, headers...)
}

func (w *world) do(ctx context.Context, method, path, body string, headers ...string) answer {
	start := time.Now()
	req, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return answer{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return answer{err: err, took: time.Since(start)}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b), time.Since(start), err}
}

// atRest fails unless no call is under way and nothing is reserved.
func (w *world) atRest() {
	w.t.Helper()
	synctest.Wait()
	if n, _ := w.gateway.Busy(); n != 0 {
		w.t.Errorf("%d calls are in flight", n)
	}
	for _, cfg := range w.gateway.configs() {
		f := cfg.gate.Figures(time.Now())
		if f.Reserved != 0 {
			w.t.Errorf("route %s: %v is reserved", cfg.plan.Name, f.Reserved)
		}
		for _, l := range f.Lanes {
			if l.Queued != 0 {
				w.t.Errorf("route %s: %d calls are queued", cfg.plan.Name, l.Queued)
			}
		}
	}
	if used := w.gateway.opts.Memory.Used(); used != 0 {
		w.t.Errorf("%d bytes of bodies are held", used)
	}
}

func (w *world) figures(route string) figuresOf {
	for _, cfg := range w.gateway.configs() {
		if cfg.plan.Name == route {
			return figuresOf{cfg}
		}
	}
	w.t.Fatalf("no route %s", route)
	return figuresOf{}
}

type figuresOf struct{ *config }

func (f figuresOf) level(limit string) float64 {
	for _, l := range f.gate.Figures(time.Now()).Limits {
		if l.Name == limit {
			return l.Level
		}
	}
	return -1e18
}

func (f figuresOf) spent(limit string) float64 {
	for _, l := range f.gate.Figures(time.Now()).Limits {
		if l.Name == limit {
			return l.Spent
		}
	}
	return -1e18
}

// onePolicy is a plan with one policy of the routes.
func onePolicy(routes ...plan.Route) *plan.Plan {
	return &plan.Plan{
		Version: plan.Version, Revision: 1, Namespace: "team-support",
		Policies: []plan.Policy{{Name: "support", Generation: 1, MaxGateways: 4, Routes: routes}},
	}
}

// anthropicRoute has the defaults a policy compiles to.
func anthropicRoute(limits ...plan.Limit) plan.Route {
	return plan.Route{
		Name: "anthropic", Dialect: "Anthropic", BaseURL: "http://provider", Limits: limits,
		Deadline: plan.Deadline{DefaultMillis: 60_000},
		Throttle: plan.Throttle{HonourCeilingMillis: 30_000, JitterPercent: 25, MaxAttempts: 3},
		Unguided: plan.Backoff{BaseMillis: 500, CapMillis: 30_000},
		Overload: plan.Overload{BaseMillis: 1000, CapMillis: 30_000, MaxAttempts: 4},
		Lanes:    []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 1000, MaxWaitMillis: 50_000}},
	}
}

func openaiRoute(limits ...plan.Limit) plan.Route {
	r := anthropicRoute(limits...)
	r.Name, r.Dialect = "openai", "OpenAI"
	return r
}

func perMinute(name, budget string, amount int64) plan.Limit {
	return plan.Limit{Name: name, Budget: budget, Amount: amount, WindowSeconds: 60, Burst: amount}
}

// message is a body for Anthropic whose text has about so many tokens by the unlearned estimate.
func message(tokens int) string {
	return `{"model":"claude-sonnet-4-5","max_tokens":16,"messages":[{"role":"user","content":"` + marked(strings.Repeat("a ", tokens)) + `"}]}`
}

// marked is a prompt with the mark by which it would be found, and as long as without.
func marked(text string) string {
	if len(text) < len(canary.PromptMark) {
		return text
	}
	return canary.PromptMark + text[len(canary.PromptMark):]
}
