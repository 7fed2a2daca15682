// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package agreement

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// inMemory is a way to a handler without a network, either as an app's to the gateway or as the gateway's to the provider.
type inMemory struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	// A server is told the path alone.
	there := r.Clone(r.Context())
	there.RequestURI = r.URL.RequestURI()
	there.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, there)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// timeless runs the code of the gateway and the streams in simulated time.
func timeless(t *testing.T, c *comparison) (m measured) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		provider := fakeprovider.New(c.provider())
		g := proxy.New(proxy.Options{
			Dialect:   func(name string) (dialect.Dialect, bool) { d := registry.ByName(name); return d, d != nil },
			Transport: inMemory{provider}, Memory: spool.NewBudget(256 << 20), Log: slog.New(slog.DiscardHandler),
			Namespace: "team-support", Rand: func() float64 { return 0.5 },
		})
		decoded, err := policy.Decode(fmt.Appendf(nil, c.policy, "https://provider.example.com"))
		if err != nil {
			t.Fatal(err)
		}
		compiled, _ := policy.Compile(decoded, policy.Inputs{Namespace: "team-support"})
		g.Apply(&compiled, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		calls := &callers{t: t, url: "http://gateway/anthropic/v1/messages", client: &http.Client{Transport: inMemory{g}}}
		m = calls.during(ctx, c, provider, cancel)
		// Routes that are gone wait for nothing any more.
		g.Apply(&plan.Plan{Version: plan.Version, Revision: compiled.Revision + 1, Namespace: "team-support"}, time.Now())
	})
	return m
}
