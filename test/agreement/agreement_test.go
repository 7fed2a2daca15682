// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package agreement

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

var binary string

func TestMain(m *testing.M) { os.Exit(dataplane.Main(m, &binary)) }

const (
	// callTime is how long the provider takes over a call.
	callTime = 100 * time.Millisecond
	// tolerance is how much figures may differ.
	tolerance = 0.05
	// latest is how much after their time callers may call, in a run that is a measurement; runs is how often one is
	// tried for.
	latest = 250 * time.Millisecond
	runs   = 4
)

// comparison is a policy and calls, for both.
type comparison struct {
	duration time.Duration
	// policy is with the provider's URL left out.
	policy  string
	limits  []fakeprovider.Limit
	budgets string
	streams []stream
}

const policyHead = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: agreement, namespace: team-support}
spec:
  providers:
  - name: anthropic
    baseURL: %s
`

// comparisons are small accounts: what takes minutes on a real one takes seconds.
func comparisons() map[string]*comparison {
	return map[string]*comparison{
		// 20,000 tokens a second are offered of 10,000: the queue is as long as the deadline lets it be.
		"twice what there is": {
			duration: 20 * time.Second,
			policy: policyHead + `    limits:
    - {name: input-tokens, budget: InputTokens, amount: 600k, per: Minute, burst: 20k}
`,
			limits:  []fakeprovider.Limit{{Budget: fakeprovider.InputTokens, Amount: 600_000, Window: time.Minute, Burst: 20_000}},
			budgets: "{budget: InputTokens, amount: 600k, per: Minute, burst: 20k}",
			streams: []stream{{name: "chat", every: 30 * time.Millisecond, tokens: 600, deadline: 6 * time.Second}},
		},
		// Either lane wants more than its share.
		"two lanes": {
			duration: 20 * time.Second,
			policy: policyHead + `    limits:
    - {name: input-tokens, budget: InputTokens, amount: 600k, per: Minute, burst: 20k}
    lanes:
    - {name: bulk, match: {minInputTokens: 1k}, largestCall: 1500, reservedPercent: 40}
`,
			limits:  []fakeprovider.Limit{{Budget: fakeprovider.InputTokens, Amount: 600_000, Window: time.Minute, Burst: 20_000}},
			budgets: "{budget: InputTokens, amount: 600k, per: Minute, burst: 20k}",
			streams: []stream{
				{name: "chat", every: 50 * time.Millisecond, tokens: 600, deadline: 6 * time.Second},
				{name: "ingest", every: 200 * time.Millisecond, tokens: 1_500, deadline: 8 * time.Second},
			},
		},
	}
}

// TestSimulatorAgreesWithTheGateway on simulated time, which passes alike on every machine, and in a long run in real time
// with the binary as well.
func TestSimulatorAgreesWithTheGateway(t *testing.T) {
	for name, c := range comparisons() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Which of two calls goes first that are due at once is chance, and a median of few shows it.
			long := *c
			long.duration = 6 * c.duration
			long.judge(t, long.simulate(t), timeless(t, &long))
			if os.Getenv("HEADGATE_SHARING_SECONDS") != "" {
				c.judge(t, c.simulate(t), c.real(t))
			}
		})
	}
}

// judge compares what came of the same calls.
func (c *comparison) judge(t *testing.T, simulated *result.Result, measured measured) {
	t.Helper()
	provider := simulated.Provider["anthropic"]
	c.compare(t, "utilisation", provider.Budgets["InputTokens"].Utilisation, measured.utilisation)
	for _, s := range c.streams {
		of := simulated.Streams[s.name]
		c.compare(t, s.name+": offered", float64(of.Offered), float64(measured.streams[s.name].offered))
		c.compare(t, s.name+": succeeded", float64(of.Succeeded), float64(measured.streams[s.name].succeeded))
		c.compare(t, s.name+": median wait in seconds", of.Wait.P50, measured.streams[s.name].median)
	}
	if provider.Rejected429 != 0 || measured.throttled != 0 {
		t.Errorf("429s: simulated %d, real %d", provider.Rejected429, measured.throttled)
	}
}

// real measures until a run is a measurement.
func (c *comparison) real(t *testing.T) measured {
	t.Helper()
	for range runs {
		m := measure(t, c)
		if m.late <= latest {
			return m
		}
		t.Logf("no measurement: callers called %v late", m.late)
	}
	t.Fatalf("in %d runs the machine did not let callers call in time", runs)
	return measured{}
}

func (c *comparison) compare(t *testing.T, what string, simulated, measured float64) {
	t.Helper()
	off := math.Abs(simulated-measured) / math.Max(math.Abs(measured), 1e-9)
	t.Logf("%s: simulated %.4g, real %.4g, off by %.2f %%", what, simulated, measured, 100*off)
	if off > tolerance {
		t.Errorf("%s: simulated %.4g, real %.4g: off by %.1f %%, more than %.0f %%", what, simulated, measured, 100*off, 100*tolerance)
	}
}

func (c *comparison) simulate(t *testing.T) *result.Result {
	t.Helper()
	text := fmt.Sprintf("kind: Workload\nduration: %v\nprovider:\n  anthropic:\n    limits: [%s]\nstreams:\n", c.duration, c.budgets)
	for _, s := range c.streams {
		text += fmt.Sprintf("- {name: %s, provider: anthropic, arrivals: {every: %v}, inputTokens: %d, outputTokens: 4, maxTokens: 4, callTime: %v, deadline: %v}\n",
			s.name, s.every, s.tokens, callTime, s.deadline)
	}
	r, err := simulate.Run(simulate.Input{
		Policy: fmt.Appendf(nil, c.policy, "https://provider.example.com"), Workload: []byte(text), Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
