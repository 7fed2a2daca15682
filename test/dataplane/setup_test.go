// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

var binary string

func TestMain(m *testing.M) { os.Exit(dataplane.Main(m, &binary)) }

// gateway is a running gateway in front of a simulated provider.
type gateway struct {
	*dataplane.Gateway
	t *testing.T
}

// policyYAML is a policy of both providers at the simulated one; more goes below each provider.
func policyYAML(url, more string) string {
	return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: openai
    baseURL: %[1]s
    limits:
    - {name: tokens, budget: Tokens, amount: 400k, per: Minute}
%[2]s
  - name: anthropic
    baseURL: %[1]s
    credentialKey: anthropic
    limits:
    - {name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}
%[2]s
`, url, more)
}

// start runs the gateway with the keys and the policy of every test, and stops it at the test's end.
func start(t *testing.T, opts fakeprovider.Options, more string) *gateway {
	t.Helper()
	return startWith(t, opts, func(url string) string { return policyYAML(url, more) })
}

// startWith does it with a policy of the test's own.
func startWith(t *testing.T, opts fakeprovider.Options, policy func(url string) string) *gateway {
	t.Helper()
	return &gateway{t: t, Gateway: dataplane.Start(t, binary, dataplane.Options{
		Provider: opts, Policy: policy, Keys: map[string]string{"anthropic": "sk-ant-c4n4ryKey-of-the-gateway-c4n4ryKey"},
	})}
}

// probes has the container probe itself, as a kubelet does: again, if a busy machine does not answer in the two seconds of a probe.
func (g *gateway) probes() {
	g.t.Helper()
	var said []byte
	var err error
	for deadline := time.Now().Add(dataplane.Patience); time.Now().Before(deadline); {
		if said, err = exec.Command(binary, "probe", "--listen", strings.TrimPrefix(g.URL, "http://")).CombinedOutput(); err == nil {
			return
		}
	}
	g.t.Errorf("probe: %v %s", err, said)
}

// checkMetrics waits until the metrics have all lines: an answer may be with its caller before its call is counted.
func (g *gateway) checkMetrics(want ...string) {
	g.t.Helper()
	var lacks []string
	var body string
	for deadline := time.Now().Add(dataplane.Patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		_, body = g.Get(g.Admin + "/metrics")
		lacks = slices.DeleteFunc(slices.Clone(want), func(line string) bool { return strings.Contains(body, line+"\n") })
		if len(lacks) == 0 {
			return
		}
	}
	g.t.Errorf("metrics lack %s in\n%s", strings.Join(lacks, "\n"), body)
}

// metric is the value of one series.
func (g *gateway) metric(name string) float64 {
	g.t.Helper()
	_, body := g.Get(g.Admin + "/metrics")
	_, rest, found := strings.Cut("\n"+body, "\n"+name+" ")
	text, _, _ := strings.Cut(rest, "\n")
	value, err := strconv.ParseFloat(text, 64)
	if !found || err != nil {
		g.t.Errorf("metrics lack %s: %v", name, err)
	}
	return value
}
