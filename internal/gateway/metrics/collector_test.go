// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
)

func newGateway() *proxy.Gateway {
	return proxy.New(proxy.Options{
		Dialect: func(name string) (dialect.Dialect, bool) {
			d := registry.ByName(name)
			return d, d != nil
		},
		Transport: http.DefaultTransport, Namespace: "team",
	})
}

func TestMetricsAreWellFormedAndTheirLabelsBounded(t *testing.T) {
	g := newGateway()
	for _, m := range g.Metrics(time.Now()) {
		for i := range 1000 {
			name := fmt.Sprintf("m-%d", i)
			m.Tally.Billed(name, 1, 2, -1, -1)
			m.Tally.Missing(name)
			m.Lanes[0].Refused(name)
			m.Lanes[0].End("success", name)
			m.Lanes[0].Sent(time.Duration(i)*time.Second, "budget")
		}
		m.Tally.Finished(1)
		m.Tally.Finished(50)
	}
	families, err := NewRegistry(g).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := len(f.GetMetric()); n > 200 {
			t.Errorf("%s has %d series", f.GetName(), n)
		}
		if f.GetName() == "headgate_tokens_total" {
			if n := len(f.GetMetric()); n != 2*21*4 {
				t.Errorf("%d series of tokens, not those of 20 models and other", n)
			}
		}
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
