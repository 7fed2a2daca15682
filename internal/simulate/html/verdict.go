// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// verdict is the page's headline.
type verdict struct {
	// Class is ok, failed or open.
	Class, Mark, Headline string
	// Sentences say what happened with each run, Headgate's first.
	Sentences []string
}

func newVerdict(runs []run) verdict {
	v := headline(runs[0].r.Expect)
	v.Sentences = []string{sentence(runs[0])}
	for _, r := range runs[1:] {
		v.Sentences = append(v.Sentences, inBrief(r))
	}
	return v
}

func headline(expect []result.Expectation) verdict {
	failed := 0
	for _, e := range expect {
		if !e.OK {
			failed++
		}
	}
	switch {
	case len(expect) == 0:
		return verdict{Class: "open", Mark: "–", Headline: "Nothing was expected: judge by the figures"}
	case failed > 0:
		return verdict{Class: "failed", Mark: "✕", Headline: fmt.Sprintf("%d of %s failed", failed, plural(len(expect), "expectation"))}
	case len(expect) == 1:
		return verdict{Class: "ok", Mark: "✓", Headline: "The one expectation holds"}
	default:
		return verdict{Class: "ok", Mark: "✓", Headline: fmt.Sprintf("All %d expectations hold", len(expect))}
	}
}

// inBrief is what a baseline is compared by.
func inBrief(r run) string {
	t := totals(r.r)
	late := ""
	if t.tooLate > 0 {
		late = fmt.Sprintf(", %s of them after their deadline", count(t.tooLate))
	}
	return fmt.Sprintf("%s: %s succeeded (%s)%s, %s from the provider.", r.Name, count(t.succeeded),
		percent(float64(t.succeeded), float64(t.offered)), late, plural(t.throttled, "429"))
}

// sentence says what became of a run's calls.
func sentence(r run) string {
	t := totals(r.r)
	parts := []string{fmt.Sprintf("%s of %s succeeded (%s)", count(t.succeeded), plural(t.offered, "call"), percent(float64(t.succeeded), float64(t.offered)))}
	if t.tooLate > 0 {
		parts = append(parts, count(t.tooLate)+" of them after their deadline")
	}
	if t.declined > 0 {
		text := count(t.declined) + " declined"
		if t.declineMedian > 0 {
			text += ", half of them within " + seconds(t.declineMedian)
		}
		parts = append(parts, text)
	}
	for _, p := range []struct {
		n    int
		what string
	}{{t.deferred, "deferred"}, {t.failed, "failed"}, {t.unfinished, "unfinished"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n)+" "+p.what)
		}
	}
	provider := "the provider refused none"
	if t.throttled > 0 {
		provider = "the provider answered " + plural(t.throttled, "429")
	}
	return strings.Join(append(parts, provider), "; ") + "."
}
