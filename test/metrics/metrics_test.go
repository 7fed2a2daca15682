// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/budgetstore/loop"
	"github.com/headgate-dev/headgate/internal/certs"
	"github.com/headgate-dev/headgate/internal/controller"
	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	gateway "github.com/headgate-dev/headgate/internal/gateway/metrics"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/webhook"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

const head = `# Metrics

Written by ` + "`hack/generate-docs`" + ` from what the collectors describe.

Every name and label is bounded: namespaces, policies, providers, limits and lanes are those of policies; models are at
most 20 for a provider, and ` + "`other`" + `; all else is of a closed set. No pod, key, prompt or user is ever a label.

The gateway of each pod and the manager serve many metrics under the same name, each gateway its own part and the manager
the sum of what gateways report: scrape one of the two, or count twice.
`

// parts are the two that serve metrics.
func parts() map[string][]prometheus.Collector {
	byName := func(name string) (dialect.Dialect, bool) { d := registry.ByName(name); return d, d != nil }
	return map[string][]prometheus.Collector{
		"The gateway, at `:15081/metrics` of its pod": {gateway.NewRegistry(proxy.New(proxy.Options{Dialect: byName})), loop.New(loop.Options{})},
		"The manager": {
			coordinator.New(coordinator.Options{}), webhook.NewPodInjector(webhook.Options{}).Outcomes,
			&certs.Source{}, (&controller.Reconciler{}).Collector(), loop.New(loop.Options{}),
		},
	}
}

type metric struct{ name, help, labels string }

var described = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: "((?:[^"\\]|\\.)*)", (?:unit: "[^"]*", )?constLabels: \{\}, variableLabels: \{(.*)\}\}$`)

// metricsOf reads what collectors describe, by name.
func metricsOf(t *testing.T, collectors []prometheus.Collector) []metric {
	t.Helper()
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		for _, c := range collectors {
			c.Describe(descriptions)
		}
	}()
	var out []metric
	for d := range descriptions {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("not understood: %s", d)
		}
		out = append(out, metric{m[1], m[2], m[3]})
	}
	slices.SortFunc(out, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	return out
}

// kindOf is a metric's type, which its description does not hold: names end as Prometheus' conventions ask.
func kindOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_total"):
		return "counter"
	case strings.HasSuffix(name, "wait_seconds"), strings.HasSuffix(name, "draw_seconds"), strings.HasSuffix(name, "_per_call"):
		return "histogram"
	}
	return "gauge"
}

func document(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(head)
	all := parts()
	for _, title := range []string{"The gateway, at `:15081/metrics` of its pod", "The manager"} {
		fmt.Fprintf(&b, "\n## %s\n\n| metric | type | labels | what it says |\n|---|---|---|---|\n", title)
		for _, m := range metricsOf(t, all[title]) {
			labels := strings.ReplaceAll(m.labels, ",", ", ")
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, kindOf(m.name), labels, strings.ReplaceAll(m.help, "|", `\|`))
		}
	}
	return b.String()
}

func TestMetricsAreDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "metrics.md")
	got := document(t)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/metrics.md is out of date; hack/generate-docs writes it (-file +code):\n%s", diff)
	}
}

// What both serve means the same: it has the same labels but for those that only one knows.
func TestMetricsOfTheSameNameAgree(t *testing.T) {
	all := parts()
	manager := map[string]metric{}
	for _, m := range metricsOf(t, all["The manager"]) {
		manager[m.name] = m
	}
	for _, m := range metricsOf(t, all["The gateway, at `:15081/metrics` of its pod"]) {
		other, both := manager[m.name]
		if both && !strings.HasPrefix(m.labels, other.labels) {
			t.Errorf("%s has labels %s at the gateway and %s at the manager", m.name, m.labels, other.labels)
		}
	}
}
