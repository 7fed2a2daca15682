// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package exits

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

var binary string

func TestMain(m *testing.M) { os.Exit(dataplane.Main(m, &binary)) }

var (
	appKey = canary.Key("of-the-app")
	ourKey = canary.Key("of-the-gateway")
)

// start runs a gateway with a route for each row, and one to fail over to.
func start(t *testing.T, rows []row, args ...string) *dataplane.Gateway {
	t.Helper()
	return dataplane.Start(t, binary, dataplane.Options{
		Keys: map[string]string{"anthropic": ourKey}, Args: args, LogLevel: "info",
		Policy: func(url string) string { return policies(rows, url) },
	})
}

// perPolicy is how many routes a policy may have, one of them the backup's.
const perPolicy = 16

func policies(rows []row, url string) string {
	var b strings.Builder
	// Each policy names one route as the dialect, whose built-in route would otherwise be any of them.
	backup := row{name: "anthropic", fields: "credentialKey: anthropic\n    "}
	for i := 0; i < len(rows); i += perPolicy - 1 {
		fmt.Fprintf(&b, "apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: rows-%d, namespace: team-support}\nspec:\n  providers:\n", i)
		for _, r := range rows[i:min(i+perPolicy-1, len(rows))] {
			b.WriteString(r.yaml(url))
		}
		b.WriteString(backup.yaml(url))
		b.WriteString("---\n")
	}
	return b.String()
}

func (r *row) yaml(url string) string {
	if r.url != "" {
		url = r.url
	}
	requests, slots := "amount: 36k, per: Hour", 1000
	if r.requests != "" {
		requests = r.requests
	}
	if r.slots > 0 {
		slots = r.slots
	}
	return fmt.Sprintf(`  - name: %s
    dialect: Anthropic
    baseURL: %s
    %slimits:
    - {name: requests, budget: Requests, %s}
    - {name: input, budget: InputTokens, amount: 36M, per: Hour}
    - {name: slots, budget: InFlight, amount: %d}
`, r.name, url, r.fields, requests, slots)
}

// silence is a listener that takes connections and says nothing.
func silence(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return "https://" + l.Addr().String()
}
