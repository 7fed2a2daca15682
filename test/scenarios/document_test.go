// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

const preamble = `<!-- Written by go test ./test/scenarios -update; do not edit. -->
# Scenarios

What Headgate promises under load, as figures. Each scenario is a policy and a workload in [test/scenarios](../test/scenarios), played on the simulator: the production engine on simulated time, against a provider with true buckets of its own. The baselines are offered the same calls:

- **no gateway**: every call is sent at once, and a refusal is final;
- **SDK retries**: no gateway; what the official SDKs do on their own: two retries, as the provider says, else 0.5 s doubling up to 8 s;
- **one queue**: a gateway that counts the policy's limits in token buckets, first in, first out: no lanes, no deadlines, nothing learned from the provider.

*In time* is of the calls offered, those whose first content came within their deadline. *Declined* were refused before a send. *Refused* are the provider's 429s and 529s. *Waited* is the longest of a call that succeeded. *Used* is what was spent of what there was, of the budget that was used most. Calls that were under way at the end count for nobody.
`

// write makes the document.
func write(scenarios []scenario, results []*result.Result) string {
	var b strings.Builder
	b.WriteString(preamble)
	for i, s := range scenarios {
		fmt.Fprintf(&b, "\n## %s\n\n[%s.yaml](../test/scenarios/%[2]s.yaml). %s\n\n", s.title, s.name, s.about)
		figures(&b, results[i])
		expected(&b, results[i])
	}
	return b.String()
}

// runs are what a table compares, in its order.
var runs = []struct{ key, name string }{
	{"", "**Headgate**"}, {"none", "no gateway"}, {"sdk-exponential", "SDK retries"}, {"gateway-no-lanes", "one queue"},
}

func figures(b *strings.Builder, r *result.Result) {
	b.WriteString("| | Stream | In time | Deferred | Declined | Failed | Waited | Sends | Refused | Used |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, run := range runs {
		of := r
		if run.key != "" {
			of = r.Baselines[run.key]
		}
		if of == nil {
			continue
		}
		total := provider(of)
		for i, name := range slices.Sorted(maps.Keys(of.Streams)) {
			head, tail := run.name, total
			if i > 0 {
				head, tail = "", " | "
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", head, stream(name, of.Streams[name]), tail)
		}
	}
}

func stream(name string, s *result.Stream) string {
	deferred := count(s.Deferred)
	if s.Deferred != s.DeferredDone {
		deferred += " (" + count(s.DeferredDone) + " made)"
	}
	return fmt.Sprintf("%s | %s of %s | %s | %s | %s | %s | %s", name, strconv.Itoa(s.Succeeded-s.TooLate), strconv.Itoa(s.Offered), deferred,
		count(sum(s.Declined)), count(sum(s.Failed)), seconds(s.Wait.Max), count(s.Attempts))
}

func provider(r *result.Result) string {
	refused, used := 0, 0.0
	for _, p := range r.Provider {
		refused += p.Rejected429 + p.Rejected529
		for _, b := range p.Budgets {
			used = max(used, b.Utilisation)
		}
	}
	return fmt.Sprintf("%s | %s %%", count(refused), rounded(100*used))
}

func expected(b *strings.Builder, r *result.Result) {
	b.WriteString("\nExpected, and got:")
	for i, e := range r.Expect {
		separator := ";"
		if i == len(r.Expect)-1 {
			separator = "."
		}
		fmt.Fprintf(b, " `%s`: %s%s", e.What, rounded(e.Got), separator)
	}
	b.WriteString("\n")
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func count(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

func seconds(v float64) string {
	if v == 0 {
		return "–"
	}
	return rounded(v) + " s"
}

// rounded has as many digits as a reader wants: of a large number all, else three.
func rounded(v float64) string {
	if v >= 1000 || v == float64(int64(v)) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if v < 0.0005 && v > -0.0005 {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
