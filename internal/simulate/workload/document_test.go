// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// TestWhatJSONCannotSayIsToldWithItsField: further documents, which would be passed over, numbers that are none, and
// characters that a terminal would obey or that hide what is written.
func TestWhatJSONCannotSayIsToldWithItsField(t *testing.T) {
	const least = "kind: Workload\nduration: 1m\nprovider: {a: {}}\nstreams:\n- {name: NAME, provider: a, arrivals: {every: EVERY}, inputTokens: TOKENS}\n"
	for name, tc := range map[string]struct{ name, every, tokens, after, want string }{
		"as it should be":       {},
		"an empty end":          {after: "---\n# nothing\n"},
		"a second document":     {after: "---\nkind: Workload\nbogus: 1\n", want: "more than one document"},
		"no number":             {tokens: ".nan", want: "streams[0].inputTokens: must be a number, not NaN"},
		"no end":                {tokens: "{lognormal: {median: -.inf, sigma: 1}}", want: "streams[0].inputTokens.lognormal.median: must be a number, not -Inf"},
		"a terminal's order":    {name: `"a\u009b2J"`, want: "streams[0].name: must be 1 to 63 printable characters"},
		"letters turned around": {name: `"a\u202eb"`, want: "streams[0].name: must be 1 to 63 printable characters"},
		"an order as a field":   {tokens: `1, "x\e[2J": 1`, want: "streams[0].x?[2J: is unknown"},
		"a broken end":          {after: "---\n[", want: "yaml: line"},
	} {
		t.Run(name, func(t *testing.T) {
			text := least
			for field, value := range map[string]string{"NAME": tc.name, "EVERY": tc.every, "TOKENS": tc.tokens} {
				if value == "" {
					value = map[string]string{"NAME": "é-名", "EVERY": "1s", "TOKENS": "10"}[field]
				}
				text = strings.Replace(text, field, value, 1)
			}
			_, err := workload.Parse([]byte(text + tc.after))
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (!errors.Is(err, workload.ErrInvalid) || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("told %v, want %q", err, tc.want)
			}
		})
	}
}
