// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/shapes"
)

var binary string

func TestMain(m *testing.M) { os.Exit(dataplane.Main(m, &binary)) }

// route is the shape's own: routes have a budget of retries each.
func route(s shapes.Shape) string { return strings.ToLower(s.Name) }

// everyProvider is several policies, since one has room for 16 providers: each is at its place in the simulated one.
func everyProvider(url string) string {
	var b strings.Builder
	for i, s := range shapes.All() {
		if i%16 == 0 {
			fmt.Fprintf(&b, `---
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support-%d, namespace: team-support}
spec:
  providers:
`, i)
		}
		fmt.Fprintf(&b, `  - name: %s
    dialect: %s
    baseURL: %s%s
    limits: [{name: plenty, budget: Requests, amount: 60k, per: Minute}]
    unguided: {base: 100ms, cap: 200ms}
    overload: {base: 100ms, cap: 200ms}
`, route(s), s.Dialect, url, shapes.Route(s.Dialect))
	}
	return b.String()
}

// start runs one gateway in front of all providers.
func start(t *testing.T) *dataplane.Gateway {
	t.Helper()
	return dataplane.Start(t, binary, dataplane.Options{Policy: everyProvider})
}

// rich is the key of an account with money. Others have one account each, since an account without money is
// not asked again.
const rich = "sk-c4n4ryKey-rich"

// through sends a call through the gateway, and returns the arrivals it made.
func through(t *testing.T, g *dataplane.Gateway, s shapes.Shape, path, body, key string) (int, string, []fakeprovider.Arrival) {
	t.Helper()
	before := len(g.Provider.Arrivals())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/"+route(s)+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("after %d bytes: %v", len(got), err)
	}
	return resp.StatusCode, string(got), g.Provider.Arrivals()[before:]
}

// TestEachProviderThroughTheGateway: a document, a stream, a refusal that is waited out and one that no wait cures,
// on the real gateway, each on the path that the provider's SDKs use.
func TestEachProviderThroughTheGateway(t *testing.T) {
	g := start(t)
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			status, body, arrivals := through(t, g, s, s.Path, s.Body, rich)
			if status != http.StatusOK || len(arrivals) != 1 || !strings.Contains(body, text) {
				t.Errorf("document: status %d, arrivals %+v: %s", status, arrivals, body)
			}
			status, body, arrivals = through(t, g, s, s.StreamPath, s.StreamBody, rich)
			if len(arrivals) != 1 {
				t.Fatalf("stream: arrivals %+v: %s", arrivals, body)
			}
			if status != http.StatusOK || !arrivals[0].Stream || s.End != "" && !s.IsWhole(body) {
				t.Errorf("stream: status %d, arrivals %+v: %s", status, arrivals, body)
			}
			if a := arrivals[0]; a.Dialect != s.Dialect || a.OutputTokens != shapes.Output {
				t.Errorf("arrival %+v", a)
			}
			checkRefusals(t, g, s)
		})
	}
}

// text is what every document says.
var text = strings.TrimSpace(fakeprovider.Text(shapes.Output - shapes.Reasoning))

func checkRefusals(t *testing.T, g *dataplane.Gateway, s shapes.Shape) {
	t.Helper()
	// The buckets of a new account are in debt for 180 ms from its first call on, which is refused; they fill while the gateway
	// waits.
	g.Provider.SetLevel(drained(s), -0.3)
	status, body, arrivals := through(t, g, s, s.Path, s.Body, "sk-c4n4ryKey-drained-"+s.Name)
	if status != http.StatusOK || len(arrivals) < 2 || arrivals[0].Verdict != "Throttled" {
		t.Errorf("throttled: status %d, arrivals %+v: %s", status, arrivals, body)
	}
	g.Provider.SetLevel("", 100)
	g.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultOverload})
	status, body, arrivals = through(t, g, s, s.StreamPath, s.StreamBody, rich)
	if status != http.StatusOK || len(arrivals) != 2 {
		t.Errorf("overloaded: status %d, arrivals %+v: %s", status, arrivals, body)
	}
	g.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultQuota})
	status, body, arrivals = through(t, g, s, s.Path, s.Body, "sk-c4n4ryKey-poor-"+s.Name)
	if s.Dialect != fakeprovider.SelfHosted && (status < 400 || len(arrivals) != 1) {
		t.Errorf("without money: status %d, arrivals %+v: %s", status, arrivals, body)
	}
	g.Provider.ClearFaults()
}
