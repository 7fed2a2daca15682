// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
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
			m.Tally.FailedOverTo(name, "success")
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

// answering is a provider that answers every call alike.
type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	const body = `{"usage":{"prompt_tokens":30,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":5}}}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// fedGateway has served one call, and has counted by hand, each its own number, what one call cannot bring about.
func fedGateway(t *testing.T) *proxy.Gateway {
	t.Helper()
	g := newGateway()
	g.SetTransport(answering{})
	g.Apply(&plan.Plan{Version: plan.Version, Namespace: "team", Policies: []plan.Policy{{Name: "p", Routes: []plan.Route{{
		Name: "openai", Dialect: "OpenAI", BaseURL: "https://api.openai.com",
		Limits: []plan.Limit{{Name: "requests", Budget: plan.Requests, Amount: 24, WindowSeconds: 24 * 60 * 60, Burst: 24}},
		Lanes:  []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 10, MaxWaitMillis: 1000}},
	}}}}}, time.Now())
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/openai/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"content":"hi"}]}`)))
	if w.Code != http.StatusOK {
		t.Fatalf("the call ended with %d: %s", w.Code, w.Body)
	}
	for _, m := range g.Metrics(time.Now()) {
		if m.Policy != "p" {
			continue
		}
		m.Tally.TooManyRequests.Add(2)
		m.Tally.Overloads.Add(3)
		m.Tally.QuotaExhausted.Add(4)
		m.Tally.TransientErrors.Add(5)
		m.Tally.PermanentErrors.Add(6)
		for range 7 {
			m.Tally.Stacked("openai-go")
		}
		m.Tally.EstimatedSettlements.Add(8)
		m.Tally.TruncatedStreams.Add(9)
		m.Tally.NotReplayable.Add(10)
		m.Tally.InvalidDeadlines.Add(11)
		for range 12 {
			m.Tally.FailedOverTo("second", "success")
		}
		m.Tally.Missing("Retry-After")
		m.Lanes[0].WouldHave(true, false)
		m.Lanes[0].WouldHave(true, true)
	}
	return g
}

// A metric that is not sent, or is sent something else, is seen.
func TestEveryMetricIsFed(t *testing.T) {
	g := fedGateway(t)
	want := map[string]float64{
		"calls_total{lane=default,outcome=success,reason=}":    1,
		"calls_offered_total{lane=default}":                    1,
		"calls_would_have_total{lane=default,outcome=waited}":  2,
		"calls_would_have_total{lane=default,outcome=refused}": 1,
		"upstream_responses_total{class=success}":              1,
		"upstream_responses_total{class=throttle}":             2,
		"upstream_responses_total{class=overload}":             3,
		"upstream_responses_total{class=quota_exhausted}":      4,
		"upstream_responses_total{class=transient}":            5,
		"upstream_responses_total{class=permanent}":            6,
		"upstream_sends_total{}":                               1,
		"wait_seconds{lane=default,source=none}":               1,
		"limit_remaining{limit=requests}":                      23,
		"limit_capacity{limit=requests}":                       24,
		"limit_offered_total{limit=requests}":                  1,
		"limit_used_total{limit=requests}":                     1,
		"limit_effective{limit=requests}":                      1,
		"limit_used_elsewhere{limit=requests}":                 0,
		"limit_disagreement{limit=requests}":                   0,
		"tokens_total{kind=input,model=m}":                     30,
		"tokens_total{kind=output,model=m}":                    20,
		"tokens_total{kind=cached_read,model=m}":               5,
		"tokens_total{kind=cache_write,model=m}":               0,
		"queue_oldest_seconds{lane=default}":                   0,
		"queue_depth{lane=default}":                            0,
		"guidance_missing_total{reason=Retry-After}":           1,
		"attempts_per_call{}":                                  1,
		"reserved{limit=requests}":                             0,
		"input_correction{}":                                   1,
		"stacked_retries_total{sdk=openai-go}":                 7,
		"estimated_settlements_total{}":                        8,
		"truncated_streams_total{}":                            9,
		"not_replayable_total{}":                               10,
		"invalid_deadlines_total{}":                            11,
		"failovers_total{outcome=success,to=second}":           12,
		"calls_borrowed_total{lane=default}":                   0,
		"lane_paused{lane=default}":                            0,
	}
	if diff := cmp.Diff(want, ofPolicy(t, g, "p")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// ofPolicy are the series of one policy, in whole numbers, by name and the labels that are not every metric's;
// of a histogram its count.
func ofPolicy(t *testing.T, g *proxy.Gateway, policy string) map[string]float64 {
	t.Helper()
	return series(t, NewRegistry(g), policy)
}

func series(t *testing.T, r *prometheus.Registry, policy string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			mine := false
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case labelNamespace, labelProvider:
				case labelPolicy:
					mine = l.GetValue() == policy
				default:
					labels = append(labels, l.GetName()+"="+l.GetValue())
				}
			}
			if mine {
				value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
				out[strings.TrimPrefix(f.GetName(), "headgate_")+"{"+strings.Join(labels, ",")+"}"] = math.Round(value)
			}
		}
	}
	return out
}

// What a gateway at rest cannot show of its lanes.
func TestLanesThatWaitBorrowOrPauseAreFed(t *testing.T) {
	lane := budget.LaneSnapshot{Queued: 3, OldestWait: 2 * time.Second, Borrowed: 4, Paused: true}
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.CollectorFunc(func(ch chan<- prometheus.Metric) {
		e := emitter{ch: ch, labels: []string{"team", "p", "openai"}}
		e.queue(&lane, "bulk")
	}))
	want := map[string]float64{
		"queue_oldest_seconds{lane=bulk}": 2, "queue_depth{lane=bulk}": 3, "calls_borrowed_total{lane=bulk}": 4, "lane_paused{lane=bulk}": 1,
	}
	if diff := cmp.Diff(want, series(t, r, "p")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// collecting is a collector of what a function sends.
type collecting func(ch chan<- prometheus.Metric)

func (collecting) Describe(chan<- *prometheus.Desc)      {}
func (c collecting) Collect(ch chan<- prometheus.Metric) { c(ch) }

// What is learned of the provider takes many calls; each figure is sent as itself.
func TestWhatIsLearnedOfLimitsIsSent(t *testing.T) {
	m := proxy.Metrics{}
	m.Figures.Limits = []admission.LimitFigures{{Name: "l", Effective: 4, Outsiders: 7, Disagreement: -9}}
	r := prometheus.NewRegistry()
	r.MustRegister(collecting(func(ch chan<- prometheus.Metric) {
		e := emitter{ch: ch, labels: []string{"n", "p", "r"}}
		e.limits(&m)
	}))
	got := series(t, r, "p")
	for name, want := range map[string]float64{"limit_effective": 4, "limit_used_elsewhere": 7, "limit_disagreement": -9} {
		if got[name+"{limit=l}"] != want {
			t.Errorf("%s is %v, want %v", name, got[name+"{limit=l}"], want)
		}
	}
}
