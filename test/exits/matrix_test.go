// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package exits

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// matrix runs rows against one gateway, round after round.
type matrix struct {
	t     *testing.T
	g     *dataplane.Gateway
	rows  []row
	began time.Time
	// idle is what the gateway had before any call.
	idle rest
}

// perCall is the most that a call under way may take. What the process keeps of it after a round depends on when its
// memory was last collected; what calls leave behind adds up, round after round, and this does not.
const perCall = 256 << 10

// rounds is how often all rows run: once, or HEADGATE_EXITS_ROUNDS times.
func rounds() int {
	if n, err := strconv.Atoi(os.Getenv("HEADGATE_EXITS_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return 1
}

// TestC4EveryWayACallEndsLeavesNothingBehind runs all rows at once, in each round.
func TestC4EveryWayACallEndsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	all := rows(silence(t))
	m := &matrix{t: t, g: start(t, all, "--ping-interval", "50ms"), rows: all, began: time.Now()}
	m.idle = m.now()
	most := m.idle.memory + int64(len(all)*times*perCall)
	for n := range rounds() {
		m.round(n + 1)
		left := m.atRest()
		t.Logf("%d ways × %d, round %d, after %s: %+v, before any call %+v",
			len(all), times, n+1, time.Since(m.began).Round(time.Second), left, m.idle)
		if left.memory > most {
			t.Errorf("after round %d the gateway has %d MiB, want at most %d", n+1, left.memory>>20, most>>20)
		}
	}
}

// round ends all rows' calls at once and checks what came of each.
func (m *matrix) round(n int) {
	m.t.Helper()
	m.g.Provider.ClearFaults()
	for i := range m.rows {
		for _, f := range m.rows[i].faults {
			f.Model = m.rows[i].name
			m.g.Inject(f)
		}
	}
	m.connect()
	c := newCaller(m.t, m.g.URL)
	got := make([][]int, len(m.rows))
	var wg sync.WaitGroup
	for i := range m.rows {
		got[i] = make([]int, times)
		for k := range times {
			wg.Go(func() { got[i][k] = c.end(&m.rows[i]) })
		}
	}
	wg.Wait()
	c.client.CloseIdleConnections()
	var p page
	m.eventually("all calls to be counted", func() bool {
		p = read(m.g)
		return !slices.ContainsFunc(m.rows, func(r row) bool {
			return r.outcomes != nil && p.sum("headgate_calls_total", "provider", r.name) < float64(times*n)
		})
	})
	for i := range m.rows {
		m.check(&m.rows[i], got[i], n, p)
	}
	c.said.Range(func(name, said any) bool {
		m.t.Logf("%s: %s", name, said)
		return true
	})
}

// connect has the gateway connect to the provider by a call of no row: rows whose calls all come before there is a connection
// open one each, and on a slow machine the last of thousands of handshakes is not over when the gateway gives it up.
func (m *matrix) connect() {
	m.t.Helper()
	if status, body := m.g.Get(m.g.URL + "/anthropic/v1/models"); status != http.StatusOK {
		m.t.Errorf("before round: %d %s", status, body)
	}
}

// check compares what clients got with what a row may give, and with what was counted.
func (m *matrix) check(r *row, got []int, round int, p page) {
	m.t.Helper()
	for _, status := range got {
		if !slices.Contains(r.statuses, status) {
			m.t.Errorf("%s: a client got %d, want one of %v", r.name, status, r.statuses)
			break
		}
	}
	if r.outcomes == nil {
		return
	}
	var counted float64
	for _, o := range r.outcomes {
		counted += p.sum("headgate_calls_total", "provider", r.name, "outcome", o)
	}
	want, other := float64(times*round), p.sum("headgate_calls_total", "provider", r.name)-counted
	if other != 0 || r.name != "deferred" && counted != want {
		m.t.Errorf("%s: %v calls are counted as %v, and %v as something else; want %v", r.name, counted, r.outcomes, other, want)
	}
}

// patience is for a machine on which ten other tests run: what is looked for is that it comes, not when.
const patience = 2 * time.Minute

func (m *matrix) eventually(what string, ok func() bool) {
	m.t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		if ok() {
			return
		}
	}
	m.t.Errorf("%s did not come", what)
}

// rest is what a gateway has when it does nothing.
type rest struct {
	goroutines, descriptors int
	memory                  int64
}

// atRest waits for the gateway to be at rest, checks each row's levels, and measures.
func (m *matrix) atRest() rest {
	m.t.Helper()
	m.eventually("rest", func() bool {
		p := read(m.g)
		return p.sum("headgate_reserved") == 0 && p.sum("headgate_queue_depth") == 0 && p.sum("headgate_deferred_calls", "state", "Waiting") == 0 &&
			m.g.Provider.InFlight() == 0
	})
	p, arrivals := read(m.g), m.g.Provider.Arrivals()
	for i := range m.rows {
		m.levels(&m.rows[i], p, arrivals)
	}
	// What keeps a connection to the gateway or from it lets go of it.
	m.g.Server.CloseClientConnections()
	var now rest
	m.eventually("the end of connections", func() bool {
		now = m.now()
		return now.goroutines <= m.idle.goroutines+spareGoroutines && now.descriptors <= m.idle.descriptors+spareDescriptors
	})
	return now
}

// What may be there beside what was before any call: the connection that asks for metrics, and what collects them.
const (
	spareGoroutines  = 8
	spareDescriptors = 4
)

// now measures the gateway.
func (m *matrix) now() rest {
	return rest{int(read(m.g).sum("go_goroutines")), m.g.Descriptors(), m.g.Resident()}
}

// levels compares what is left of a row's limits with what its refill predicts: what was charged is missing, but for
// what came back since the first charge at the earliest.
func (m *matrix) levels(r *row, p page, arrivals []fakeprovider.Arrival) {
	m.t.Helper()
	if r.requests != "" {
		return // these refill in seconds; their slots and tokens are as the others'
	}
	since := time.Since(m.began).Seconds()
	for limit, perSecond := range map[string]float64{"requests": 10, "input": 10_000, "slots": 0} {
		of := []string{"provider", r.name, "limit", limit}
		left, most, used := p.sum("headgate_limit_remaining", of...), p.sum("headgate_limit_capacity", of...), p.sum("headgate_limit_used_total", of...)
		if limit == "slots" {
			used = 0
		}
		if least := most - used; most == 0 || left < least-1e-6 || left > min(most, least+perSecond*since)+1e-6 {
			m.t.Errorf("%s: %v of %v are left of %s, of which %v were used in %.1f s", r.name, left, most, limit, used, since)
		}
	}
	m.charged(r, p, arrivals)
}

// charged checks that tokens were charged as the row says.
func (m *matrix) charged(r *row, p page, arrivals []fakeprovider.Arrival) {
	m.t.Helper()
	used := p.sum("headgate_limit_used_total", "provider", r.name, "limit", "input")
	var counted float64
	sends := 0
	for i := range arrivals {
		a := &arrivals[i]
		if a.Model != r.name {
			continue
		}
		sends++
		if a.Verdict == "Admitted" || a.Fault == fakeprovider.FaultSlow {
			counted += float64(a.InputTokens)
		}
	}
	switch {
	case r.free && used != 0:
		m.t.Errorf("%s: %v tokens are charged for calls that cost none", r.name, used)
	case r.paid && used != counted:
		m.t.Errorf("%s: %v tokens are charged, the provider counted %v", r.name, used, counted)
	}
	if requests := p.sum("headgate_limit_used_total", "provider", r.name, "limit", "requests"); sends > 0 && r.name != "failed-over" && (requests < float64(sends) || r.leave == 0 && requests > float64(sends)) {
		m.t.Errorf("%s: %v requests are charged, the provider got %d", r.name, requests, sends)
	}
}
