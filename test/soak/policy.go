// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/test/soak/referee"
)

// The limits at a hundred percent, of each provider alike, and what the calls that matter need of them.
const (
	tokensPerMinute   = 240_000
	burstTokens       = 48_000
	requestsPerMinute = 900
	burstRequests     = 150
	inFlight          = 64
	bulkTokens        = 12_000
	// longestDeadline is the longest of the deadlines that edits choose from.
	longestDeadline = 22 * time.Second
	ceiling         = 10 * time.Second
	// edited is how long an edit may take to be in force.
	edited = 2 * time.Second
)

// terms are what edits change.
type terms struct {
	// percent of every amount and burst.
	percent  int
	deadline time.Duration
	jitter   int
	lane     bool
}

// policy is a gateway's policy file and the history of its amounts.
type policy struct {
	path, provider string

	mu    sync.Mutex
	now   terms
	edits []referee.Edit
	count int
}

func newPolicy(dir, name, provider string) (*policy, error) {
	p := &policy{path: filepath.Join(dir, name+".yaml"), provider: provider}
	return p, p.write(terms{percent: 100, deadline: 20 * time.Second, jitter: 25})
}

// write puts the terms into the file, at once as a whole.
func (p *policy) write(t terms) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	part := p.path + ".part"
	if err := os.WriteFile(part, []byte(t.yaml(p.provider)), 0o600); err != nil {
		return err
	}
	if t.percent != p.now.percent {
		p.edits = append(p.edits, referee.Edit{At: time.Now(), Percent: t.percent})
	}
	p.now, p.count = t, p.count+1
	return os.Rename(part, p.path)
}

// history is every change of the amounts so far.
func (p *policy) history() []referee.Edit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]referee.Edit(nil), p.edits...)
}

// next makes the edit of a turn: amounts down and up, a lane added and removed, fields that change no level.
func (p *policy) next(turn int) error {
	p.mu.Lock()
	t := p.now
	p.mu.Unlock()
	switch turn % 6 {
	case 0:
		t.percent = 70
	case 1:
		t.lane = true
	case 2:
		t.deadline = longestDeadline
	case 3:
		t.percent = 100
	case 4:
		t.lane = false
	default:
		t.deadline, t.jitter = 20*time.Second, 20+turn%10
	}
	return p.write(t)
}

const policyYAML = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: soak, namespace: default}
spec:
  providers:
`

const providerYAML = `  - name: %s
    baseURL: http://%s
    limits:
    - {name: requests, budget: Requests, amount: %d, per: Minute, burst: %d}
    - {name: tokens, budget: %s, amount: %d, per: Minute, burst: %d}
    - {name: in-flight, budget: InFlight, amount: %d}
    deadline: {default: %s}
    throttle: {honourCeiling: %s, jitterPercent: %d, maxAttempts: 3}
    unguided: {base: 200ms, cap: 2s}
    overload: {base: 300ms, cap: 3s, maxAttempts: 4}
    lanes:
    - {name: bulk, match: {minInputTokens: 6k}, largestCall: 18k, reservedPercent: 40, queue: {maxDepth: 8}}
`

const laneYAML = "    - {name: middling, match: {minInputTokens: 3k}, reservedPercent: 10, queue: {maxDepth: 8}}\n"

// budgetOf is what each provider meters tokens by.
var budgetOf = map[string]string{"anthropic": "InputTokens", "openai": "Tokens"}

func (t terms) yaml(provider string) string {
	out := policyYAML
	for _, name := range []string{"anthropic", "openai"} {
		out += fmt.Sprintf(providerYAML, name, provider, requestsPerMinute*t.percent/100, burstRequests*t.percent/100, budgetOf[name],
			tokensPerMinute*t.percent/100, burstTokens*t.percent/100, inFlight, t.deadline, ceiling, t.jitter)
		if t.lane {
			out += laneYAML
		}
	}
	return out
}
