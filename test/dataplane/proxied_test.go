// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// TestD16TheGatewayItselfUsesTheProxyOfItsEnvironment: calls reach the gateway directly, and the provider through the
// company's proxy.
func TestD16TheGatewayItselfUsesTheProxyOfItsEnvironment(t *testing.T) {
	var provider, asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.Host)
		there, err := net.Dial("tcp", provider.Load().(string))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			_ = there.Close()
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
		_, _ = io.Copy(here, there)
		_ = here.Close()
	}))
	defer proxy.Close()
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "127.0.0.1,localhost,::1")
	g := startWith(t, fakeprovider.Options{}, func(url string) string {
		provider.Store(strings.TrimPrefix(url, "https://"))
		return policyYAML("https://example.com", "") // whose name is in the certificate of the simulated provider
	})
	client := g.openai()
	if _, err := client.Chat.Completions.New(t.Context(), chat()); err != nil {
		t.Errorf("through the proxy: %v", err)
	}
	if got, _ := asked.Load().(string); got != "CONNECT example.com:443" || len(g.Provider.Arrivals()) != 1 {
		t.Errorf("the proxy was asked %q, the provider %d times", got, len(g.Provider.Arrivals()))
	}
}
