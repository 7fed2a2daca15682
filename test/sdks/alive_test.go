// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// alivePolicy lets one call at a time to a provider, and has the clients of streams hear pings while they wait.
func alivePolicy(route string) func(url string) string {
	return func(url string) string {
		return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: %[1]s
    baseURL: %[2]s/_p/%[1]s
    deadline: {default: 5m}
    limits: [{name: one-at-once, budget: InFlight, amount: 1}]
    throttle: {honourCeiling: %[3]ds}
    unguided: {base: 100ms, cap: 200ms}
    lanes: [{name: default, queue: {maxWait: 5m, keepAlive: Pings}}]
`, route, url, honouredSeconds)
	}
}

// holding is a provider that answers the path of hold only when its client leaves.
type holding struct {
	http.Handler
	held chan struct{}
}

const holdPath = "/hold"

func (h *holding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, holdPath) {
		h.Handler.ServeHTTP(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	h.held <- struct{}{}
	<-r.Context().Done()
}

// overheard is what an app is answered by the gateway.
type overheard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// pings are the comments, or the empty events that stand for them with Google's API, before anything else came.
func (o *overheard) pings() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	head, _, _ := strings.Cut(o.text.String(), "data:")
	return strings.Count(head, "\n\n")
}

func (o *overheard) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Reset()
}

// between is a proxy in front of a gateway that overhears its answers.
func (o *overheard) between(t *testing.T, gateway string) string {
	t.Helper()
	to, err := url.Parse(gateway)
	if err != nil {
		t.Fatal(err)
	}
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1,
		ModifyResponse: func(r *http.Response) error { r.Body = &tapped{r.Body, o}; return nil },
	}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL
}

type tapped struct {
	io.ReadCloser
	by *overheard
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.by.mu.Lock()
	defer t.by.mu.Unlock()
	t.by.text.Write(p[:n])
	return n, err
}

// raises is what the providers' own SDKs raise of an error in a stream, which some tell apart from one with a status.
var raises = map[string]string{
	"openai": "APIError", "@anthropic-ai/sdk": "APIError", "@google/genai": "ApiError",
	"openai-go": "*ssestream.StreamError", "anthropic-sdk-go": "*anthropic.Error", "google.golang.org/genai": "genai.APIError",
}

// TestB14SDKsIgnorePingsAndRaiseWhatFailsBehindThem: the SDKs of who makes the formats of server-sent events, as they are.
func TestB14SDKsIgnorePingsAndRaiseWhatFailsBehindThem(t *testing.T) {
	for _, s := range all {
		if raises[s.name] == "" {
			continue
		}
		t.Run(cmp.Or(s.npm, s.goApp), func(t *testing.T) {
			t.Parallel()
			provider := fakeprovider.New(fakeprovider.Options{})
			h := &holding{provider, make(chan struct{})}
			g := dataplane.Start(t, binary, dataplane.Options{Policy: alivePolicy(s.route()), Handler: h, Args: []string{"--ping-interval", "20ms", "--drain", "0s"}})
			g.Provider = provider
			o := &overheard{}
			seen := *g
			seen.URL = o.between(t, g.URL)
			r := &row{sdk: s, t: t, Gateway: &seen, app: s.start(t, &seen)}
			r.alive(h, g.URL, o)
		})
	}
}

// alive plays a stream that waits, and one that fails after it.
func (r *row) alive(h *holding, gateway string, o *overheard) {
	t := r.t
	const key, failing = "sk-c4n4ryKey-alive", "sk-c4n4ryKey-alive-failing"
	free := r.hold(h, gateway)
	got := r.behindPings(key, o, free)
	whole := r.ask(t, key, scenario{})
	if got.Error != nil || got.Text == "" || got.Text != whole.Text || got.Pieces < 2 || len(r.sends(key)) != 2 {
		t.Errorf("a stream behind pings: %+v, error %+v; without a stream %q", got, got.Error, whole.Text)
	}
	r.Inject(r.throttle(declinedSeconds, -1, failing))
	free = r.hold(h, gateway)
	got = r.behindPings(failing, o, free)
	if n := len(r.sends(failing)); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	if got.Error == nil || got.Error.Type != raises[r.name] || got.Text != "" {
		t.Errorf("a failure behind pings: %+v, error %+v, want %q", got, got.Error, raises[r.name])
	} else if said := strings.ToLower(got.Error.Message); !strings.Contains(said, "limit") {
		t.Errorf("its words are not the provider's: %q", said)
	}
}

// behindPings has the app ask for a stream, and lets it go when some pings were heard.
func (r *row) behindPings(key string, o *overheard, free func()) outcome {
	o.forget()
	heard := make(chan bool, 1)
	go func() {
		defer free()
		deadline := time.Now().Add(dataplane.Patience)
		for o.pings() < somePings && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		heard <- o.pings() >= somePings
	}()
	got := r.ask(r.t, key, scenario{Stream: true})
	if !<-heard {
		r.t.Errorf("there were no pings: %+v, error %+v", got, got.Error)
	}
	return got
}

const somePings = 3

// hold takes the only slot of the route until free is called.
func (r *row) hold(h *holding, gateway string) (free func()) {
	t := r.t
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, gateway+"/"+r.route()+"/v1"+holdPath, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	select {
	case <-h.held:
	case <-left:
		t.Fatal("the call that holds the slot is answered")
	}
	return func() { leave(); <-left }
}
