// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/headgate-dev/headgate/internal/certs"
	"github.com/headgate-dev/headgate/internal/connections"
	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// TestStrangersHoldNoPageOfTheManager: who holds connections to its metrics and its health keeps neither probes nor scrapes out,
// and the manager does not wait for him when it ends, before it gives the lease back.
func TestStrangersHoldNoPageOfTheManager(t *testing.T) {
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: none}, HealthProbeBindAddress: none,
	})
	if err != nil {
		t.Fatal(err)
	}
	alive, ready := map[string]healthz.Checker{"ping": healthz.Ping}, map[string]healthz.Checker{}
	pages := map[string]string{"/healthz/ping": freeport.For(t), "/metrics": freeport.For(t)}
	log := slog.New(slog.DiscardHandler)
	for path, handler := range map[string]http.Handler{"/healthz/ping": healthPages(alive, ready), "/metrics": metricsPages()} {
		if err := addPages(mgr, path, pages[path], handler, log); err != nil {
			t.Fatal(err)
		}
	}
	if err := addPages(mgr, "the same", pages["/metrics"], http.NotFoundHandler(), log); err == nil || !strings.Contains(err.Error(), "listen for the same: ") {
		t.Errorf("an address that is taken: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	for path, at := range pages {
		cut := hold(t, at, 2*connections.MaxPages)
		for range connections.MaxPages { // as many as are too many, at least
			select {
			case <-cut:
			case <-time.After(time.Minute):
				t.Fatalf("%s lets strangers hold all their connections", path)
			}
		}
		if page, err := scrape(t.Context(), "http://"+at+path); err != nil || page == "" {
			t.Errorf("%s: %q, %v", path, page, err)
		}
	}
	began := time.Now()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*drainTime {
		t.Errorf("the manager waits for strangers: %s", took)
	}
}

// hold opens so many connections that begin to ask and never end; of each that is cut there is word.
func hold(t *testing.T, address string, n int) <-chan struct{} {
	t.Helper()
	cut := make(chan struct{}, n)
	for range n {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		go func() {
			_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")
			_, _ = io.Copy(io.Discard, c)
			cut <- struct{}{}
		}()
	}
	return cut
}

func scrape(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	return string(page), err
}

// TestD8TheTimeThatIsLeftIsServed: a metric that is documented and that nobody registered would be missed when it matters.
func TestD8TheTimeThatIsLeftIsServed(t *testing.T) {
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: none}, HealthProbeBindAddress: none,
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &parts{mgr: mgr, source: certs.New(fake.NewClientBuilder().WithScheme(scheme).Build(), certs.Options{Namespace: system})}
	if err := p.addCertificates(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { metrics.Registry.Unregister(p.source) })
	if err := errors.Join(p.source.Issuer().Step(t.Context()), p.source.Step(t.Context())); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	metricsPages().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	for _, certificate := range []string{"ca", "leaf"} {
		if want := `headgate_certificate_expiry_seconds{certificate="` + certificate + `"} `; !strings.Contains(w.Body.String(), want) {
			t.Errorf("nothing serves %s", want)
		}
	}
}
