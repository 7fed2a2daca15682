// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"
)

// TestB14PingsThatNobodyHearsAreSaid: a field that does nothing is one that somebody relies on.
func TestB14PingsThatNobodyHearsAreSaid(t *testing.T) {
	const longer = "deadline: {default: 2m}, "
	for name, tc := range map[string]struct{ provider, want string }{
		"waits":             {"{name: openai, " + longer + "lanes: [{name: default, queue: {maxWait: 2m, keepAlive: Pings}}]}", ""},
		"the default wait":  {"{name: openai, lanes: [{name: default, queue: {keepAlive: Pings}}]}", ""},
		"just longer":       {"{name: openai, lanes: [{name: default, queue: {maxWait: 10001ms, keepAlive: Pings}}]}", ""},
		"none":              {"{name: openai, lanes: [{name: default, queue: {maxWait: 1s, keepAlive: None}}]}", ""},
		"a short wait":      {"{name: openai, lanes: [{name: default, queue: {maxWait: 10s, keepAlive: Pings}}]}", "calls wait 10s at most, and the first ping would come after 10s"},
		"a short deadline":  {"{name: openai, deadline: {default: 5s}, lanes: [{name: default, queue: {keepAlive: Pings}}]}", "calls wait 5s at most"},
		"no queue":          {"{name: openai, lanes: [{name: default, queue: {maxDepth: 0, keepAlive: Pings}}]}", "a queue of depth 0"},
		"Bedrock":           {"{name: bedrock, baseURL: 'https://bedrock-runtime.eu-central-1.amazonaws.com', lanes: [{name: default, queue: {keepAlive: Pings}}]}", "only those of chat completions, responses and messages"},
		"Bedrock, no queue": {"{name: bedrock, baseURL: 'https://bedrock-runtime.eu-central-1.amazonaws.com', lanes: [{name: default, queue: {maxDepth: 0, keepAlive: Pings}}]}", "a queue of depth 0"},
	} {
		t.Run(name, func(t *testing.T) {
			p := decodeSpec(t, "{providers: ["+tc.provider+"]}")
			if errs := Validate(&p); len(errs) > 0 {
				t.Fatal(errs)
			}
			said := ""
			for _, w := range Warnings(&p) {
				if rest, ok := strings.CutPrefix(w, "spec.providers[0].lanes[0].queue.keepAlive: "); ok {
					said += rest
				}
			}
			if (said == "") != (tc.want == "") || !strings.Contains(said, tc.want) {
				t.Errorf("it says %q, want %q", said, tc.want)
			}
		})
	}
}
