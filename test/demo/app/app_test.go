// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// lockedBuffer is what the app prints to.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startApp serves an app whose SDKs find a simulated provider in their variables.
func startApp(t *testing.T) (*fakeprovider.Server, *httptest.Server, *lockedBuffer) {
	t.Helper()
	provider := fakeprovider.New(fakeprovider.Options{FirstByte: 30 * time.Millisecond})
	upstream := httptest.NewServer(provider)
	t.Cleanup(upstream.Close)
	t.Setenv("OPENAI_BASE_URL", upstream.URL+"/v1")
	t.Setenv("ANTHROPIC_BASE_URL", upstream.URL)
	t.Setenv("OPENAI_API_KEY", "sk-demo")
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-demo")
	out := &lockedBuffer{}
	server := httptest.NewServer(newApp(t.Context(), "support", out).handler())
	t.Cleanup(server.Close)
	return provider, server, out
}

func run(t *testing.T, server *httptest.Server, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/run", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func result(t *testing.T, server *httptest.Server) load.Result {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/result", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var got load.Result
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

func waitDone(t *testing.T, server *httptest.Server) load.Result {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for {
		if got := result(t, server); got.State == load.Done {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatal("the load does not end")
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestAppCallsBothProvidersAtTheRateAsked(t *testing.T) {
	provider, server, out := startApp(t)
	if got := result(t, server).State; got != load.Idle {
		t.Errorf("state %s before the first load", got)
	}
	const body = `{"name":"n","seconds":6,"callsPerMinute":200,"inputTokens":2000,"openAIPercent":25,"streamPercent":50}`
	if got := run(t, server, body); got != http.StatusAccepted {
		t.Fatalf("status %d", got)
	}
	if got := run(t, server, body); got != http.StatusConflict {
		t.Errorf("status %d for a second load", got)
	}
	got := waitDone(t, server)
	if got.Calls != 20 || got.OK != 20 || len(got.WaitsMillis) != 20 || got.TokensOK != 40_000 || got.InFlight != 0 {
		t.Errorf("result = %+v", got)
	}
	if took := got.EndedUnixMillis - got.StartedUnixMillis; took < 5_650 {
		t.Errorf("20 calls at 200 a minute took %d ms: not paced", took)
	}
	seen := map[fakeprovider.Dialect]int{}
	streams := 0
	for _, a := range provider.Arrivals() {
		seen[a.Dialect]++
		if a.InputTokens != 2_000 {
			t.Errorf("a call of %d tokens, want 2,000", a.InputTokens)
		}
		if a.Stream {
			streams++
		}
	}
	if seen[fakeprovider.OpenAI] != 5 || seen[fakeprovider.Anthropic] != 15 || streams == 0 || streams == 20 {
		t.Errorf("arrivals %v, %d streams", seen, streams)
	}
	var printed load.Result
	if err := json.Unmarshal([]byte(out.String()), &printed); err != nil || printed.OK != 20 || printed.WaitsMillis != nil {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}

func TestAppTellsFailuresApart(t *testing.T) {
	provider, server, _ := startApp(t)
	const declined = `{"type":"error","error":{"type":"rate_limit_error","message":"headgate: used up"}}`
	for _, f := range []fakeprovider.Fault{
		{Kind: fakeprovider.FaultRespond, Status: 429, Body: declined, Headers: map[string][]string{"x-should-retry": {"false"}}},
		{Kind: fakeprovider.FaultRespond, Status: 429, Headers: map[string][]string{"x-should-retry": {"false"}}},
		{Kind: fakeprovider.FaultRespond, Status: 529, Headers: map[string][]string{"x-should-retry": {"false"}}},
		{Kind: fakeprovider.FaultRespond, Status: 400},
	} {
		if err := provider.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	if got := run(t, server, `{"seconds":1,"callsPerMinute":240}`); got != http.StatusAccepted {
		t.Fatalf("status %d", got)
	}
	got := waitDone(t, server)
	for _, kind := range []string{load.Declined, load.Throttled, load.Overloaded, load.Other} {
		if got.Failed[kind] != 1 {
			t.Errorf("%s: %d, want 1 (%v)", kind, got.Failed[kind], got.Failed)
		}
	}
	if len(got.DeclinedMillis) != 1 || got.OK != 0 {
		t.Errorf("result = %+v", got)
	}
}

func TestAppRefusesALoadItCannotMake(t *testing.T) {
	_, server, _ := startApp(t)
	for _, body := range []string{"", "{}", `{"seconds":1}`, `{"seconds":1,"callsPerMinute":60,"surprise":1}`} {
		if got := run(t, server, body); got != http.StatusBadRequest {
			t.Errorf("%q: status %d", body, got)
		}
	}
}

// An answer that breaks off is told from a whole one, even where the SDK raises no error; and each failure says when its
// call began and ended.
func TestAppTellsBrokenAnswersFromWholeOnes(t *testing.T) {
	provider, server, _ := startApp(t)
	const calls = 2
	if err := provider.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultTruncate, AfterContent: 4, Count: calls}); err != nil {
		t.Fatal(err)
	}
	began := time.Now().UnixMilli()
	if got := run(t, server, `{"seconds":1,"callsPerMinute":240,"streamPercent":100,"openAIPercent":50}`); got != http.StatusAccepted {
		t.Fatalf("status %d", got)
	}
	got := waitDone(t, server)
	if got.OK != got.Calls-calls || got.Failed[load.Corrupt] == 0 || len(got.Failures) != calls {
		t.Errorf("result = %+v", got)
	}
	for _, f := range got.Failures {
		if f.StartedUnixMillis < began || f.EndedUnixMillis < f.StartedUnixMillis || f.Message == "" {
			t.Errorf("failure %+v", f)
		}
	}
	for name, a := range map[string]answer{
		"nothing": {done: true}, "no end": {text: []byte(fakeprovider.Text(16))}, "short": {[]byte(fakeprovider.Text(15)), true},
	} {
		if !errors.Is(a.check(16), errCorrupt) {
			t.Errorf("%s is taken for whole", name)
		}
	}
}

// An app that is told to end starts no new calls, and those in flight end well.
func TestAppDrains(t *testing.T) {
	provider, _, _ := startApp(t)
	if err := provider.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultSlow, FirstByteMillis: 2000, Count: -1}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	a := newApp(ctx, "support", io.Discard)
	if !a.start(load.Run{Seconds: 60, CallsPerMinute: 1_200}.Complete()) {
		t.Fatal("no load")
	}
	for a.result().InFlight < 3 {
		<-time.After(5 * time.Millisecond)
	}
	stop()
	a.drain()
	if got := a.result(); got.State != load.Done || got.OK != got.Calls || got.InFlight != 0 || got.Calls < 3 {
		t.Errorf("result = %+v", got)
	}
}
