// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// BenchmarkHop compares one hop through the gateway, with limits, lanes and mirrors on, to one through a
// bare ReverseProxy in the same run. Each reports the CPU time of the whole process for one call, client
// and provider included; "direct" is what is left without a hop.
func BenchmarkHop(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10} {
		for _, hop := range []string{"direct", "reverseproxy", "gateway"} {
			b.Run(fmt.Sprintf("%dKiB/%s", size>>10, hop), func(b *testing.B) { benchmarkHop(b, hop, size) })
		}
	}
}

func benchmarkHop(b *testing.B, hop string, size int) {
	b.Helper()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h := w.Header()
		h.Set("Anthropic-Ratelimit-Input-Tokens-Limit", "400000000000")
		h.Set("Anthropic-Ratelimit-Input-Tokens-Remaining", "399999999000")
		h.Set("Anthropic-Ratelimit-Input-Tokens-Reset", "2030-01-01T00:00:00Z")
		answerOK(w)
	}))
	defer provider.Close()
	base := provider.URL
	switch hop {
	case "reverseproxy":
		u, err := url.Parse(provider.URL)
		if err != nil {
			b.Fatal(err)
		}
		rp := httputil.NewSingleHostReverseProxy(u)
		rp.Transport = &http.Transport{MaxIdleConnsPerHost: 256}
		s := httptest.NewServer(rp)
		defer s.Close()
		base = s.URL
	case "gateway":
		s := httptest.NewServer(benchGateway(b, provider.URL))
		defer s.Close()
		base = s.URL + "/anthropic"
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	body := message((size - 100) / 3)
	b.ReportAllocs()
	before := cpu(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			benchCall(b, client, base+"/v1/messages", body)
		}
	})
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func benchCall(b *testing.B, client *http.Client, target, body string) {
	b.Helper()
	req, err := http.NewRequest(http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", canary.Key("1"))
	resp, err := client.Do(req)
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b.Errorf("status %d", resp.StatusCode)
	}
}

func benchGateway(b *testing.B, provider string) *Gateway {
	b.Helper()
	transport, err := upstream.NewTransport(upstream.Options{})
	if err != nil {
		b.Fatal(err)
	}
	g := New(Options{Dialect: byName, Transport: transport, Memory: spool.NewBudget(256 << 20)})
	route := anthropicRoute(
		perMinute("requests", plan.Requests, 1e9), perMinute("input-tokens", plan.InputTokens, 1e12),
		perMinute("output-tokens", plan.OutputTokens, 1e12),
	)
	route.BaseURL = provider
	route.Lanes = []plan.Lane{
		{Name: "bulk", MinInputTokens: 20_000, SharePermille: 400, MaxDepth: 32, MaxWaitMillis: 50_000},
		{Name: "default", SharePermille: 600, MaxDepth: 1000, MaxWaitMillis: 50_000},
	}
	g.Apply(onePolicy(route), time.Now())
	return g
}

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
