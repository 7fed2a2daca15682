// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	facts "github.com/headgate-dev/headgate/internal/dialect"
)

const help = `Headgate shares the allowance of LLM providers. This plugin explains and
simulates; it calls nobody.

Usage:
  kubectl headgate explain --dialect NAME < response.http
  kubectl headgate explain policy FILE...
  kubectl headgate simulate --policy FILE --workload FILE [--seed N] [-o text|json|html]
  kubectl headgate version
  kubectl headgate help explain [policy] | simulate

Examples:
  curl -si https://api.openai.com/v1/responses ... | kubectl headgate explain --dialect openai
  kubectl headgate explain policy config/samples/05-lanes.yaml
  kubectl get ratelimitpolicies -o yaml | kubectl headgate explain policy -
  kubectl headgate simulate -p policy.yaml -w workload.yaml -o html > simulation.html
`

const helpExplainHead = `Says what a provider's response means: its class, how long to wait and why, its budgets, what a policy's
defaults do with it, and what SDKs do on their own. Of a success it says the usage, also of a stream.

Usage:
  kubectl headgate explain --dialect NAME [--received-at TIME] [-o text|json] < response.http

The response is read as it was pasted: the output of curl -i or curl -v, with or without its body, chunked or
compressed or neither. At most 1 MiB is read.

Flags:
  -d, --dialect NAME      whose response it is, in any case; required. One of
`

const helpExplainTail = `  -r, --received-at TIME  when it was received, as 2026-06-15T12:00:00Z. Absent means the response's own Date, and
                          now for one without.
  -o, --output FORMAT     text, or json: {"class", "wait_seconds", "source", "budgets"}

Exit status: 0; 1 if the response cannot be read; 2 if the flags are wrong.
`

const helpPolicy = `Says in plain words what RateLimitPolicies do: what refills how fast, how long calls of 1k, 10k and 60k tokens wait,
what lanes are guaranteed, what is refused, and what is wrong or probably not meant, with the field.

Usage:
  kubectl headgate explain policy FILE...

A FILE holds one or more policies; - is standard input. At most 1 MiB of each is read.

Exit status: 0; 1 if a file cannot be read or a policy is invalid; 2 if the arguments are wrong.
`

const helpSimulate = `Says what a policy would do to a workload before it is applied: who waits and how long, who is declined and why, what
the provider sees, and what each lane is promised and gets, beside what the same calls do without Headgate. It runs the
engine of the gateways on simulated time.

Usage:
  kubectl headgate simulate --policy FILE --workload FILE [--seed N] [-o text|json|html]

Flags:
  -p, --policy FILE      one RateLimitPolicy; - is standard input
  -w, --workload FILE    what calls come and what happens meanwhile, of kind Workload: see docs/simulate.md
      --seed N           what is drawn by chance; the same seed gives the same result. 1 unless stated
  -o, --output FORMAT    text, json, or html: one page with plots

Exit status: 0; 1 if something that the workload expects did not come about; 2 if the arguments or a file are wrong.
`

// helpExplain lists the dialects with their further names.
func helpExplain() string {
	var out strings.Builder
	out.WriteString(helpExplainHead)
	line := "                         "
	flush := func() {
		out.WriteString(line + "\n")
		line = "                         "
	}
	for _, f := range facts.All() {
		name := " " + f.Name
		if len(f.Aliases) > 0 {
			name += " (" + strings.Join(f.Aliases, ", ") + ")"
		}
		if len(line)+len(name) > 100 {
			flush()
		}
		line += name
	}
	flush()
	out.WriteString(helpExplainTail)
	return out.String()
}
