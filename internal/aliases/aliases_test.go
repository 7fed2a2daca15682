// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package aliases

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

const limit = 1 << 20

func TestWhatGrowsIsRefusedBeforeItDoes(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 x\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	for name, content := range map[string]string{
		"a long text often":     "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a, ", 20_000) + "]\n",
		"lists of lists":        laughs.String(),
		"a cycle":               "a: &a [*a]\n",
		"a cycle of two":        "a: &a {b: &b [*a], c: *b}\n",
		"a key":                 "a: &a " + strings.Repeat("x", 200_000) + "\nb: {? *a : 1, c: [*a, *a, *a, *a, *a]}\n",
		"documents together":    strings.Repeat("a: &a "+strings.Repeat("x", 1000)+"\nb: ["+strings.Repeat("*a, ", 100)+"]\n---\n", 20),
		"a merge of many":       "a: &a {k: " + strings.Repeat("x", 300_000) + "}\nb: {<<: [*a, *a, *a, *a, *a]}\n",
		"an alias of no anchor": "a: &a b\nc: *d\n",
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			if err := Check([]byte(content), limit); err == nil || len(err.Error()) > 200 {
				t.Errorf("Check = %v", err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestWhatDoesNotGrowPasses(t *testing.T) {
	for name, content := range map[string]string{
		"nothing":            "",
		"no alias":           "a: &a b\nc: 2\n",
		"one":                "a: &a {b: c}\nd: *a\n",
		"a few documents":    "a: &a {b: c}\nd: *a\n---\ne: &e 1\nf: *e\n",
		"a wildcard":         "models: [\"claude-*\"]\nurl: http://a/?b&c\n",
		"a long text twice":  "a: &a " + strings.Repeat("x", limit/3) + "\nb: *a\n",
		"anchors of a merge": "a: &a {b: c}\nd: {<<: *a, e: f}\n",
	} {
		if err := Check([]byte(content), limit); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzCheck: what passes is no larger, written out as JSON, than a few times the limit: quotes and escapes come on top.
func FuzzCheck(f *testing.F) {
	const limit = 4 << 10
	f.Add([]byte("a: &a [b, c]\nd: [*a, *a]\n"))
	f.Add([]byte("a: &a " + strings.Repeat("x", 1000) + "\nb: [*a, *a, *a, *a]\n"))
	f.Add([]byte("a: &a {<<: *a}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > limit || Check(content, limit) != nil {
			return
		}
		asJSON, err := yaml.YAMLToJSON(content)
		if err == nil && len(asJSON) > 16*limit {
			t.Errorf("%d bytes become %d", len(content), len(asJSON))
		}
	})
}
