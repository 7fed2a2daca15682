// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/credentials"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
)

// looking is a source that does something at each look.
type looking func()

func (l looking) look(time.Time) { l() }

// spends is a provider of one key whose quota is not spent.
type spends struct {
	unspent string
	sends   atomic.Int32
	takes   time.Duration
}

func (s *spends) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sends.Add(1)
	time.Sleep(s.takes)
	status, body := http.StatusOK, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":7}}`
	if r.Header.Get("Authorization") != "Bearer "+s.unspent {
		status, body = http.StatusTooManyRequests, `{"error":{"message":"spent","type":"insufficient_quota","code":"insufficient_quota"}}`
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// watched is a gateway whose keys are looked at, in simulated time.
type watched struct {
	t        *testing.T
	dir      string
	at       time.Time
	gateway  *proxy.Gateway
	provider *spends
	log      output
	// asked are the answers to calls that are made during a look.
	asked chan int
}

func watch(t *testing.T, provider *spends, files map[string]string, look, f func(w *watched)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, dir: t.TempDir(), at: time.Now(), provider: provider, asked: make(chan int, 1)}
		for name, text := range files {
			w.put(name, text)
		}
		store := credentials.New(w.dir)
		_, _ = store.Reload()
		w.gateway = proxy.New(proxy.Options{Dialect: byName, Transport: provider, Credentials: store, Namespace: "team"})
		w.gateway.Apply(&plan.Plan{Version: plan.Version, Revision: 1, Namespace: "team", Policies: []plan.Policy{{
			Name: "default", Generation: 1, MaxGateways: 1, Routes: []plan.Route{{
				Name: "mine", Dialect: "OpenAI", BaseURL: "https://one.example", CredentialKey: "mine",
				Deadline: plan.Deadline{DefaultMillis: 60_000},
				Lanes:    []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 50_000}},
			}},
		}}}, time.Now())
		watcher := &watcher{
			source: looking(func() { look(w) }), credentials: store, gateway: w.gateway,
			log: slog.New(slog.NewJSONHandler(&w.log, nil)),
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { watcher.run(ctx); close(ended) }()
		time.Sleep(lookEvery / 2) // between looks
		f(w)
		end()
		<-ended
		if log := w.log.String(); strings.Contains(log, "sk-") {
			t.Errorf("a key is logged: %s", log)
		}
	})
}

// put writes a file with a time of its own, whatever the clock of the file system.
func (w *watched) put(name, text string) {
	w.t.Helper()
	path := write(w.t, filepath.Join(w.dir, name), text)
	w.at = w.at.Add(time.Second)
	if err := os.Chtimes(path, w.at, w.at); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watched) ask() int {
	r := httptest.NewRequest(http.MethodPost, "/mine/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[]}`))
	rec := httptest.NewRecorder()
	w.gateway.ServeHTTP(rec, r)
	return rec.Code
}

// asks fails unless the next call is answered so, with so many sends in all.
func (w *watched) asks(what string, status int, sends int32) {
	w.t.Helper()
	if got := w.ask(); got != status || w.provider.sends.Load() != sends {
		w.t.Errorf("%s: answer %d after %d sends, want %d after %d; log:\n%s", what, got, w.provider.sends.Load(), status, sends, w.log.String())
	}
}

// TestA7AnotherKeyIsSeenBesideFilesThatAreUnusable: a key that is renewed is asked at once, whatever is wrong with others; and files
// that change no key, or cannot be read at each look, have nobody asked again.
func TestA7AnotherKeyIsSeenBesideFilesThatAreUnusable(t *testing.T) {
	for name, spoil := range map[string]func(w *watched){
		"none":                   func(*watched) {},
		"unusable as it is":      func(w *watched) { w.put("other", "sk-\x01") },
		"unreadable for the day": func(w *watched) { _ = os.Mkdir(filepath.Join(w.dir, "other.hosts"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"mine": "sk-spent", "mine.hosts": "one.example", "other": "sk-other"}
			watch(t, &spends{unspent: "sk-renewed"}, files, func(*watched) {}, func(w *watched) {
				w.asks("the first", http.StatusTooManyRequests, 1)
				spoil(w)
				time.Sleep(2 * lookEvery)
				w.asks("beside it", http.StatusTooManyRequests, 1)
				w.put("mine", "sk-spent")
				w.put("README", "x")
				time.Sleep(2 * lookEvery)
				w.asks("written as it was", http.StatusTooManyRequests, 1)
				w.put("mine", "sk-renewed")
				time.Sleep(2 * lookEvery)
				w.asks("renewed", http.StatusOK, 2)
			})
		})
	}
}

// TestA7ACallDuringTheLookIsOneFromBefore: the look takes its time, in which calls still leave with the key from before. What they
// are told when it is over is no word on the new one.
func TestA7ACallDuringTheLookIsOneFromBefore(t *testing.T) {
	files := map[string]string{"mine": "sk-spent", "mine.hosts": "one.example"}
	var during sync.Once
	watch(t, &spends{unspent: "sk-renewed", takes: 10 * time.Second}, files, func(w *watched) {
		during.Do(func() {
			time.Sleep(lookEvery / 10)
			go func() { w.asked <- w.ask() }()
			time.Sleep(lookEvery / 10)
			w.put("mine", "sk-renewed")
		})
	}, func(w *watched) {
		if got := <-w.asked; got != http.StatusTooManyRequests {
			t.Errorf("with the key from before: answer %d", got)
		}
		w.asks("renewed", http.StatusOK, 2)
	})
}
