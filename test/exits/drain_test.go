// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package exits

import (
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// drains are the ways to be under way when the gateway is told to end.
func drains() []row {
	return []row{
		{name: "waits-shortly", slots: 50, faults: slow(always, 300, 0)},
		{name: "waits-too-long", slots: 1, faults: slow(always, 600_000, 0)},
		{name: "streams-shortly", stream: true, faults: slow(always, 0, 100)},
		{name: "streams-too-long", stream: true, faults: slow(always, 0, 600_000)},
		{name: "waits-for-a-retry", faults: throttle(always, "60")},
	}
}

// TestC4ADrainEndsEveryCall: calls that can end within the drain do, as if nothing were; those that wait for longer are
// answered; the others are cut at its end, visibly; and the gateway ends well with all of them on its hands.
func TestC4ADrainEndsEveryCall(t *testing.T) {
	all := drains()
	g := start(t, all, "--drain", "30s")
	m := &matrix{t: t, g: g, rows: all, began: time.Now()}
	for i := range all {
		for _, f := range all[i].faults {
			f.Model = all[i].name
			g.Inject(f)
		}
	}
	m.connect()
	c := newCaller(t, g.URL)
	defer c.client.CloseIdleConnections()
	var whole, told, cut [5]atomic.Int64
	var wg sync.WaitGroup
	for i := range all {
		for range times {
			wg.Go(func() {
				switch c.end(&all[i]) {
				case 200:
					whole[i].Add(1)
				case 429, 503:
					told[i].Add(1)
				default:
					cut[i].Add(1)
				}
			})
		}
	}
	m.eventually("all calls", func() bool { return read(g).sum("headgate_calls_offered_total") >= float64(times*len(all)) })
	if err := g.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i, r := range all {
		each := int64(times)
		got := [3]int64{whole[i].Load(), told[i].Load(), cut[i].Load()}
		want := [3]int64{each, 0, 0}
		switch {
		case r.slots == 1:
			// One place is one call under way, and all others wait for it. On a stalled machine another may come to it at the end.
			if got[0] != 0 || got[2] < 1 || got[1]+got[2] != each {
				t.Errorf("%s: %d calls ended well, were answered, were cut; want [0 %d 1]", r.name, got, each-1)
			}
			continue
		case r.name == "waits-for-a-retry":
			want = [3]int64{0, each, 0}
		case strings.HasSuffix(r.name, "too-long"):
			want = [3]int64{0, 0, each}
		}
		if got != want {
			t.Errorf("%s: %d calls ended well, were answered, were cut; want %d", r.name, got, want)
		}
	}
	m.eventually("the provider to be let go", func() bool { return g.Provider.InFlight() == 0 })
	m.eventually("the end", func() bool { return strings.Contains(g.Log.String(), `"msg":"drained"`) })
}

// TestC4AGatewayThatIsStalledAtTheEndOfADrainAnswersStill: who waits in its queue is told, though the time for that is over when
// it runs again.
func TestC4AGatewayThatIsStalledAtTheEndOfADrainAnswersStill(t *testing.T) {
	all := []row{{name: "waits-too-long", slots: 1, faults: slow(always, 600_000, 0)}}
	g := start(t, all, "--drain", "1s")
	m := &matrix{t: t, g: g, rows: all, began: time.Now()}
	for _, f := range all[0].faults {
		f.Model = all[0].name
		g.Inject(f)
	}
	c := newCaller(t, g.URL)
	defer c.client.CloseIdleConnections()
	var told, cut atomic.Int64
	var wg sync.WaitGroup
	for range times {
		wg.Go(func() {
			switch c.end(&all[0]) {
			case 503:
				told.Add(1)
			case 0:
				cut.Add(1)
			}
		})
	}
	m.eventually("all calls", func() bool { return read(g).sum("headgate_queue_depth") == float64(times-1) })
	signal := func(s syscall.Signal) {
		if err := g.Cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGTERM)
	m.eventually("the drain", func() bool { return strings.Contains(g.Log.String(), `"msg":"draining"`) })
	signal(syscall.SIGSTOP)
	time.Sleep(1200 * time.Millisecond) // beyond the drain's bound
	signal(syscall.SIGCONT)
	wg.Wait()
	if told.Load() != int64(times-1) || cut.Load() != 1 {
		t.Errorf("%d calls were answered and %d were cut; want %d and 1", told.Load(), cut.Load(), times-1)
	}
}
