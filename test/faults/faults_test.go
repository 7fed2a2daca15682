// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/faults.md from what the tests say")

const (
	root     = "../.."
	document = root + "/docs/faults.md"
)

// TestEveryFaultHasItsTest reads the tests, and holds the page to them.
func TestEveryFaultHasItsTest(t *testing.T) {
	proofs, tests, err := collect(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range slices.Concat(judge(proofs), judgeElsewhere(tests)) {
		t.Error(problem)
	}
	if t.Failed() {
		return // what is wrong is not to be written down
	}
	got := write(proofs)
	if *update {
		if err := os.WriteFile(document, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/faults.md is not what the tests say (-written +said); make golden writes it:\n%s", diff)
	}
}

// judge says what is wrong with the tests.
func judge(proofs []proof) (problems []string) {
	tests, tellers := map[string]int{}, map[string]string{}
	for _, s := range sections {
		for _, id := range s.ids {
			tests[id] = 0
		}
	}
	for _, p := range proofs {
		at := p.file + ": " + p.name
		if p.problem != "" {
			problems = append(problems, at+": "+p.problem)
		}
		for _, id := range p.ids {
			if _, ok := tests[id]; !ok {
				problems = append(problems, at+": there is no fault "+id)
				continue
			}
			tests[id]++
		}
		for _, told := range p.told {
			switch other := tellers[told.id]; {
			case !slices.Contains(p.ids, told.id):
				problems = append(problems, at+" tells of fault "+told.id+" and is not named after it")
			case other != "":
				problems = append(problems, at+" and "+other+" both tell of fault "+told.id)
			case !isSentence(told.fault) || !isSentence(told.headgate):
				problems = append(problems, at+": what it tells of "+told.id+" is no sentence")
			}
			tellers[told.id] = at
		}
	}
	for _, id := range slices.Sorted(maps.Keys(tests)) {
		if tests[id] == 0 || tellers[id] == "" {
			problems = append(problems, fmt.Sprintf("fault %s: %d tests, told of in %q", id, tests[id], tellers[id]))
		}
	}
	return problems
}

func isSentence(s string) bool {
	return strings.HasSuffix(s, ".") && strings.ToUpper(s[:1]) == s[:1] && !strings.ContainsAny(s, "|\n")
}

var quoted = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")

// judgeElsewhere holds what stands in for tests to tests that exist.
func judgeElsewhere(tests map[string]bool) (problems []string) {
	for _, e := range elsewhere {
		found := quoted.FindAllStringSubmatch(e.instead, -1)
		if len(found) == 0 {
			problems = append(problems, e.what+": nothing stands in for a test")
		}
		for _, m := range found {
			if !tests[m[1]] {
				problems = append(problems, e.what+": there is no test "+m[1])
			}
		}
	}
	return problems
}
