// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/test/soak/referee"
)

// The amounts at a hundred percent, a minute. The load is a little below them at its mean, and above them after an
// edit to seventy percent.
const (
	soakRequests      = 360
	soakRequestsBurst = 20
	soakTokens        = 150_000
	soakTokensBurst   = 30_000
	soakOpenAI        = 90_000
	soakOpenAIBurst   = 18_000
	// soakDeadline and the seconds that edits add are less than a pod has to drain, so that no rollout ends a call
	// that waits.
	soakDeadline = 18
)

// soak is one run.
type soak struct {
	u       tenant
	account string
	seed    uint64
	chance  *rand.Rand
	length  time.Duration

	load     *soakLoad
	arrivals *soakArrivals
	memory   *soakMemory
	closing  closing

	began, ended time.Time
	// deck is what happens next; turn counts the edits.
	deck []happening
	turn int

	mu sync.Mutex
	// edits of the amounts, happened what happened, wrong what must not.
	edits    []referee.Edit
	happened []happened
	wrong    []string
	results  results
}

// happened is one thing that happened: from its beginning until all was back, and how long status took then.
type happened struct {
	what     string
	pod      string // whose gateway died
	from, to time.Time
	// loses says that calls under way may be lost.
	loses bool
	truth time.Duration
}

func newSoak(t *testing.T, seed uint64, length time.Duration) *soak {
	t.Helper()
	s := &soak{
		u: newTenant(t), seed: seed, length: length, chance: rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // an order, no secret
	}
	s.account = s.u.name
	s.load, s.arrivals, s.memory = newSoakLoad(s), newSoakArrivals(s), newSoakMemory(s)
	s.arrivals.admin = providerAdmin(t)
	mustKubectl(t, s.accountYAML(100), "apply", "-f", "-")
	t.Cleanup(func() { _, _ = kubectl(t, "", "delete", "provideraccount", s.account, "--ignore-not-found") })
	s.u.apply(t, s.policyYAML(100, soakDeadline, false))
	s.edits = append(s.edits, referee.Edit{At: time.Now(), Percent: 100})
	for _, role := range []string{"steady", "mortal", "bulk"} {
		s.u.startPod(t, role, appSpec())
	}
	s.u.apply(t, deployment("chat", 2))
	for _, role := range []string{"steady", "mortal", "bulk", s.u.podsOf(t, "chat", 2)[0]} {
		s.u.serving(t, role)
	}
	s.u.eventually(t, 2*time.Minute, "all report", s.allGoverned())
	return s
}

func (s *soak) accountYAML(percent int) string {
	return fmt.Sprintf(`
apiVersion: headgate.dev/v1alpha1
kind: ProviderAccount
metadata: {name: %s}
spec:
  dialect: Anthropic
  limits:
  - {name: requests, budget: Requests, amount: %d, per: Minute, burst: %d}
  - {name: input-tokens, budget: InputTokens, amount: %d, per: Minute, burst: %d}
  allowedNamespaces: {names: [%s]}
  maxGateways: 8
`, s.account, soakRequests*percent/100, soakRequestsBurst*percent/100, soakTokens*percent/100, soakTokensBurst*percent/100, s.u.name)
}

const middleLane = "\n    - {name: middling, match: {minInputTokens: 1k}, reservedPercent: 10}"

func (s *soak) policyYAML(percent, deadline int, lane bool) string {
	extra := ""
	if lane {
		extra = middleLane
	}
	return strings.ReplaceAll(fmt.Sprintf(`
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: default}
spec:
  maxGateways: 8
  providers:
  - name: anthropic
    baseURL: https://provider.llm-provider.svc
    credentialKey: anthropic
    accountRef: {name: %s}
    deadline: {default: %ds}
    lanes:
    - {name: bulk, match: {minInputTokens: 4k}, largestCall: 8k, reservedPercent: 30, queue: {maxDepth: 8}}EXTRA
  - name: openai
    baseURL: https://provider.llm-provider.svc
    credentialKey: openai
    limits:
    - {name: tokens, budget: Tokens, amount: %d, per: Minute, burst: %d}
    deadline: {default: %ds}
`, s.account, deadline, soakOpenAI*percent/100, soakOpenAIBurst*percent/100, deadline), "EXTRA", extra)
}

// allGoverned holds while all five pods are governed and their gateways report.
func (s *soak) allGoverned() statusCheck { return pods(5, 5, 5, 5) }

// livePods are the tenant's pods that run.
func (s *soak) livePods(ctx context.Context) ([]corev1.Pod, error) {
	all, err := s.u.podsNow(ctx)
	kept := all[:0]
	for i := range all {
		if all[i].DeletionTimestamp == nil && all[i].Status.PodIP != "" {
			kept = append(kept, all[i])
		}
	}
	return kept, err
}
