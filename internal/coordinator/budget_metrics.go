// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/ledger"
)

// describePool describes what an account's pool has of a limit.
func describePool(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"account"}, labels...), nil)
}

var (
	descShare    = describe("headgate_limit_share", "What a policy's gateways together may count on now, in the limit's unit a minute.", labelLimit)
	descBorrowed = describe("headgate_limit_borrowed", "What of a policy's use is beyond its tenant's own part of the account, in the limit's unit a minute.", labelLimit)
	descWaiting  = describe("headgate_limit_waiting", "What gateways asked for and were not granted yet, in the limit's unit.", labelLimit)

	descPoolRate     = describePool("headgate_pool_rate", "What an account's limit brings a minute, less the safe shares of gateways that hear nothing.", labelLimit)
	descPoolLevel    = describePool("headgate_pool_level", "What of an account's limit is not granted to any gateway; negative is debt.", labelLimit)
	descPoolHeld     = describePool("headgate_pool_held", "What gateways hold of an account's limit: granted, and neither reported spent nor given back.", labelLimit)
	descPoolUnknown  = describePool("headgate_pool_unknown", "What gateways may hold by an earlier leader's grants beside that.", labelLimit)
	descPoolUsed     = describePool("headgate_pool_used", "What was spent of an account's limit of late, a minute.", labelLimit)
	descPoolWaiting  = describePool("headgate_pool_waiting", "What was asked of an account's limit and not granted yet.", labelLimit)
	descPoolGateways = describePool("headgate_pool_gateways", "Gateways that draw on an account, by whether they report or are silent; one counts for each of its policies' providers.", "state")

	descDraws   = prometheus.NewDesc("headgate_coordinator_draws_total", "Draws of gateways taken in, at most one of each policy's provider a batch.", nil, nil)
	descIgnored = prometheus.NewDesc("headgate_coordinator_draws_ignored_total", "Draws of gateways ignored: of a policy that does not govern the pod, overtaken, while this replica may not grant, or for which there is no room.", []string{"reason"}, nil)
	descBatches = prometheus.NewDesc("headgate_coordinator_batches_total", "Batches of draws that were granted together.", nil, nil)
	descBusy    = prometheus.NewDesc("headgate_coordinator_batch_seconds_total", "How long batches took; its rate is the part of one core that granting needs.", nil, nil)
	descWrites  = prometheus.NewDesc("headgate_coordinator_state_writes_total", "Writes of what the next leader must know, by outcome.", []string{"outcome"}, nil)
)

var budgetDescs = []*prometheus.Desc{
	descShare, descBorrowed, descWaiting, descPoolRate, descPoolLevel, descPoolHeld, descPoolUnknown, descPoolUsed, descPoolWaiting,
	descPoolGateways, descDraws, descIgnored, descBatches, descBusy, descWrites,
}

// collect sends what the budgets' counters and figures say.
func (b *budgets) collect(ch chan<- prometheus.Metric, leads bool) {
	b.collectCounts(ch)
	if !leads {
		return
	}
	figures := b.figures.Load()
	for route, f := range figures.Routes {
		c := collection{ch: ch, labels: []string{route.Namespace, route.Policy, route.Provider}}
		for _, l := range f.Limits {
			c.send(descShare, prometheus.GaugeValue, l.Share, l.Name)
			c.send(descBorrowed, prometheus.GaugeValue, l.Borrowed, l.Name)
			c.send(descWaiting, prometheus.GaugeValue, l.Waiting, l.Name)
		}
	}
	for name, f := range figures.Accounts {
		collectAccount(collection{ch: ch, labels: []string{name}}, f)
	}
}

func collectAccount(c collection, f ledger.AccountFigures) {
	for _, l := range f.Limits {
		for desc, v := range map[*prometheus.Desc]float64{
			descPoolRate: l.Rate, descPoolLevel: l.Level, descPoolHeld: l.Held, descPoolUnknown: l.Unknown, descPoolUsed: l.Used,
			descPoolWaiting: l.Waiting,
		} {
			c.send(desc, prometheus.GaugeValue, v, l.Name)
		}
	}
	c.send(descPoolGateways, prometheus.GaugeValue, float64(f.Holders), "reporting")
	c.send(descPoolGateways, prometheus.GaugeValue, float64(f.Silent), "silent")
}

func (b *budgets) collectCounts(ch chan<- prometheus.Metric) {
	c := collection{ch: ch}
	b.mu.Lock()
	defer b.mu.Unlock()
	c.count(descDraws, float64(b.counts.taken))
	for why, n := range b.counts.ignored {
		c.count(descIgnored, float64(n), why)
	}
	c.count(descBatches, float64(b.counts.batches))
	c.count(descBusy, b.counts.busy.Seconds())
	for outcome, n := range b.counts.writes {
		c.count(descWrites, float64(n), outcome)
	}
}
