// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/wire"
)

// The manager's metrics have the names and labels that are documented, and a replica that does not lead has
// none of policies.
func TestMetrics(t *testing.T) {
	store := figures.NewStore()
	s := New(Options{Figures: store, Leadership: leads(true)})
	s.lead.self = true
	store.Observe(figures.Pod{Namespace: "ns", Name: "a", UID: "u"}, 1, &wire.Report{
		Sequence: 1, UptimeMillis: 1,
		Routes: []*wire.RouteReport{{
			Policy: "p", Provider: "openai", Sends: 7, TooManyRequests: 2,
			Limits: []*wire.LimitReport{{Name: "tokens", Level: -3, Spent: 10, Offered: 20}},
			Lanes: []*wire.LaneReport{{
				Name: "chat", Sent: 5, Refused: map[string]uint64{"Deadline": 4, "an invented reason": 1},
				WaitBuckets: []uint64{4, 1}, WaitTotalMillis: 12, OldestWaitMillis: 1500, Queued: 2,
			}},
			Models: []*wire.ModelTokens{{Model: "m", Input: 6}},
		}},
	}, time.Now())
	want := `
# HELP headgate_calls_total Calls by what became of them: sent, refused by the policy, cancelled while queued.
# TYPE headgate_calls_total counter
headgate_calls_total{lane="chat",namespace="ns",outcome="cancelled",policy="p",provider="openai",reason=""} 0
headgate_calls_total{lane="chat",namespace="ns",outcome="refused",policy="p",provider="openai",reason="Deadline"} 4
headgate_calls_total{lane="chat",namespace="ns",outcome="refused",policy="p",provider="openai",reason="Other"} 1
headgate_calls_total{lane="chat",namespace="ns",outcome="sent",policy="p",provider="openai",reason=""} 5
# HELP headgate_limit_remaining What could go now, in the limit's unit; negative is debt.
# TYPE headgate_limit_remaining gauge
headgate_limit_remaining{limit="tokens",namespace="ns",policy="p",provider="openai"} -3
# HELP headgate_queue_oldest_seconds How long the oldest queued call has waited.
# TYPE headgate_queue_oldest_seconds gauge
headgate_queue_oldest_seconds{lane="chat",namespace="ns",policy="p",provider="openai"} 1.5
`
	names := []string{"headgate_calls_total", "headgate_limit_remaining", "headgate_queue_oldest_seconds"}
	if err := testutil.CollectAndCompare(s, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(s); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	s.lead.self = false
	if n := testutil.CollectAndCount(s, names...); n != 0 {
		t.Errorf("a replica that does not lead shows %d series of policies", n)
	}
}

// A metric that is not sent, or is sent something else, is seen: each count in the report is its own number.
func TestEveryMetricIsFed(t *testing.T) {
	store := figures.NewStore()
	s := New(Options{Figures: store, Leadership: leads(true)})
	s.lead.self = true
	s.stats.reports, s.stats.foreign = 20, 21
	s.budgets.counts = drawCounts{
		taken: 24, ignored: map[string]uint64{ignoredForeign: 25, ignoredOld: 26}, batches: 27, busy: 28 * time.Second,
		writes: map[string]uint64{writeDone: 29, writeFailed: 30},
	}
	s.budgets.figures.Store(&ledger.Figures{
		Routes: map[ledger.Route]ledger.RouteFigures{{Namespace: "ns", Policy: "p", Provider: "openai"}: {Limits: []ledger.LimitFigures{
			{Name: "tokens", Share: 31, Borrowed: 32, Waiting: 33},
		}}},
		Accounts: map[string]ledger.AccountFigures{"acme": {
			Limits:  []ledger.AccountLimitFigures{{Name: "tpm", Rate: 34, Level: 35, Held: 36, Unknown: 37, Used: 38, Waiting: 39}},
			Holders: 40, Silent: 41,
		}},
	})
	pod := figures.Pod{Namespace: "ns", Name: "a", UID: "u"}
	s.space("ns").members[pod] = &member{pod: pod, version: "v1", lastReport: time.Now()}
	store.Observe(pod, 1, &wire.Report{Sequence: 1, UptimeMillis: 1, Routes: []*wire.RouteReport{{
		Policy: "p", Provider: "openai", Sends: 1, TooManyRequests: 2, Overloads: 3, QuotaExhausted: 4,
		TransientErrors: 5, PermanentErrors: 6, Unguided: 7, StackedRetries: 8, StackedBySdk: map[string]uint64{"openai-go": 5, "nobody's": 1}, TooLarge: 9,
		EstimatedSettlements: 22, TruncatedStreams: 23,
		Limits: []*wire.LimitReport{{Name: "tokens", Level: 10, Spent: 11, Offered: 12}},
		Lanes: []*wire.LaneReport{{
			Name: "chat", Sent: 13, Cancelled: 14, Refused: map[string]uint64{"Deadline": 15},
			WaitBuckets: []uint64{13}, WaitTotalMillis: 12, OldestWaitMillis: 16_000, Queued: 17,
		}},
		Models: []*wire.ModelTokens{{Model: "m", Input: 18, Output: 19, CachedRead: 20, CacheWrite: 21}},
	}}}, time.Now())
	want := map[string]float64{
		"calls_total{lane=chat,outcome=sent,reason=}":            13,
		"calls_total{lane=chat,outcome=cancelled,reason=}":       14,
		"calls_total{lane=chat,outcome=refused,reason=Deadline}": 15,
		"upstream_sends_total{}":                                 1,
		"upstream_responses_total{class=throttle}":               2,
		"upstream_responses_total{class=overload}":               3,
		"upstream_responses_total{class=quota_exhausted}":        4,
		"upstream_responses_total{class=transient}":              5,
		"upstream_responses_total{class=permanent}":              6,
		"guidance_missing_total{}":                               7,
		"stacked_retries_total{sdk=openai-go}":                   5,
		"stacked_retries_total{sdk=other}":                       3,
		"calls_too_large_total{}":                                9,
		"limit_remaining{limit=tokens}":                          10,
		"limit_used_total{limit=tokens}":                         11,
		"limit_offered_total{limit=tokens}":                      12,
		"wait_seconds{lane=chat}":                                13,
		"queue_oldest_seconds{lane=chat}":                        16,
		"queue_depth{lane=chat}":                                 17,
		"tokens_total{kind=input,model=m}":                       18,
		"tokens_total{kind=output,model=m}":                      19,
		"tokens_total{kind=cached_read,model=m}":                 20,
		"tokens_total{kind=cache_write,model=m}":                 21,
		"coordinator_reports_total{}":                            20,
		"coordinator_foreign_routes_total{}":                     21,
		"estimated_settlements_total{}":                          22,
		"truncated_streams_total{}":                              23,
		"gateways{mode=share,version=v1}":                        1,
		"coordinator_draws_total{}":                              24,
		"coordinator_draws_ignored_total{reason=foreign}":        25,
		"coordinator_draws_ignored_total{reason=old}":            26,
		"coordinator_batches_total{}":                            27,
		"coordinator_batch_seconds_total{}":                      28,
		"coordinator_state_writes_total{outcome=done}":           29,
		"coordinator_state_writes_total{outcome=failed}":         30,
		"limit_share{limit=tokens}":                              31,
		"limit_borrowed{limit=tokens}":                           32,
		"limit_waiting{limit=tokens}":                            33,
		"pool_rate{account=acme,limit=tpm}":                      34,
		"pool_level{account=acme,limit=tpm}":                     35,
		"pool_held{account=acme,limit=tpm}":                      36,
		"pool_unknown{account=acme,limit=tpm}":                   37,
		"pool_used{account=acme,limit=tpm}":                      38,
		"pool_waiting{account=acme,limit=tpm}":                   39,
		"pool_gateways{account=acme,state=reporting}":            40,
		"pool_gateways{account=acme,state=silent}":               41,
	}
	if diff := cmp.Diff(want, series(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// series are all series by name and the labels that are not every metric's; of a histogram its count.
func series(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				if name := l.GetName(); name != labelNamespace && name != labelPolicy && name != labelProvider {
					labels = append(labels, name+"="+l.GetValue())
				}
			}
			name := strings.TrimPrefix(f.GetName(), "headgate_") + "{" + strings.Join(labels, ",") + "}"
			out[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}
