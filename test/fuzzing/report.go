// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// shown is how much of an input or of a log is shown; the rest stays in its file.
const shown = 16 << 10

func (c *Campaign) sayBuilt(broken map[string]error, took time.Duration) {
	fmt.Fprintf(c.Out, "==> %d targets of %d packages built in %.0fs; each runs for %s, %d at once\n",
		len(c.Targets), len(folders(c.Targets)), took.Seconds(), c.Each, c.Jobs)
	for _, dir := range slices.Sorted(maps.Keys(broken)) {
		fmt.Fprintf(c.Out, "==> %s cannot be built: %v\n", dir, broken[dir])
	}
}

// say prints a target's line when it ended, and all there is to see of a finding. The caller sees to it that one speaks
// at a time.
func (c *Campaign) say(r result) {
	fmt.Fprintf(c.Out, "%s: %d executions, %d beyond its corpus of %d, %d new inputs, %.0fs %s\n",
		r.Target, r.executions, r.beyond(), r.corpus, r.added, r.took.Seconds(), r.why)
	if r.verdict != found {
		return
	}
	fmt.Fprintf(c.Out, "--- %s: what the engine says\n%s\n", r.Target, tail(r.log))
	if name := input(r.log); name != "" {
		path := filepath.Join(r.Dir, "testdata", "fuzz", name)
		content, _ := os.ReadFile(filepath.Join(c.Root, path))
		fmt.Fprintf(c.Out, "--- %s: the input, %s\n%s\n", r.Target, path, head(string(content)))
		fmt.Fprintf(c.Out, "--- %s: the input run alone (go test ./%s -run '%s')\n%s\n", r.Target, r.Dir, name, head(r.alone))
	}
	fmt.Fprintf(c.Out, "--- %s: end\n", r.Target)
}

// summary prints a table of all targets, and the findings once more.
func (c *Campaign) summary(results []result, broken map[string]error) {
	slices.SortFunc(results, func(a, b result) int { return strings.Compare(a.String(), b.String()) })
	table := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "executions\tbeyond the corpus\tnew inputs\tfindings\t  target\t")
	total := 0
	for i := range results {
		r := &results[i]
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t  %s\t\n", r.executions, r.beyond(), r.added, findings(r), r.Target)
		total += r.executions
	}
	_ = table.Flush()
	fmt.Fprintf(c.Out, "==> %d of %d targets ran, %d executions\n", len(results), len(c.Targets), total)
	for i := range results {
		if results[i].verdict == found {
			fmt.Fprintf(c.Out, "found by: %s: %s\n", results[i].Target, results[i].why)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(broken)) {
		fmt.Fprintf(c.Out, "found by: %s: it cannot be built\n", dir)
	}
}

func findings(r *result) int {
	if r.verdict == found {
		return 1
	}
	return 0
}

func head(text string) string {
	if len(text) <= shown {
		return text
	}
	return text[:shown] + fmt.Sprintf("… (%d bytes more)", len(text)-shown)
}

func tail(text string) string {
	if len(text) <= shown {
		return text
	}
	return fmt.Sprintf("(%d bytes before) …", len(text)-shown) + text[len(text)-shown:]
}
