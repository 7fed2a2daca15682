// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// inFlight is how many calls all gateways together may have in flight.
const inFlight = 6

// TestGatewaysShareSlots without a coordinator: while each is asked for more calls at once than there are slots, the provider
// never sees more than those, all of them are used, and no gateway starves. While the store is not there the calls go on.
func TestGatewaysShareSlots(t *testing.T) {
	atOnce(t)
	f := newFleet(t, nil, "    - {name: in-flight, budget: InFlight, amount: 6}\n")
	f.join(3)
	stop, most, served := f.callers(t, 8)
	time.Sleep(warmUp)
	most.reset()
	time.Sleep(seconds())
	if n := most.get(); n > inFlight || n < inFlight-1 {
		t.Errorf("%d calls were in flight at once, there are %d slots", n, inFlight)
	}
	for i := range 3 {
		if served.get(i) == 0 {
			t.Errorf("gateway %d made no call", i)
		}
	}
	f.store.Kill()
	time.Sleep(6 * time.Second)
	before := served.all()
	time.Sleep(5 * time.Second)
	if served.all() == before {
		t.Error("no call was made while the store was not there")
	}
	// What is in hand is in use for a while; one for each gateway that has none may come to it.
	if n := most.get(); n > inFlight+3 {
		t.Errorf("%d calls were in flight without the store", n)
	}
	f.store.Run()
	stop()
	if n := f.answered[0].Load() + f.answered[502].Load() + f.answered[500].Load(); n > 0 {
		t.Errorf("%d calls failed", n)
	}
}

// peak is the most that was seen.
type peak struct {
	mu sync.Mutex
	n  int
}

func (p *peak) see(n int) { p.mu.Lock(); p.n = max(p.n, n); p.mu.Unlock() }
func (p *peak) get() int  { p.mu.Lock(); defer p.mu.Unlock(); return p.n }
func (p *peak) reset()    { p.mu.Lock(); p.n = 0; p.mu.Unlock() }

// tally counts what each gateway served.
type tally struct {
	mu sync.Mutex
	by map[int]int
}

func (c *tally) add(i int)     { c.mu.Lock(); c.by[i]++; c.mu.Unlock() }
func (c *tally) get(i int) int { c.mu.Lock(); defer c.mu.Unlock(); return c.by[i] }
func (c *tally) all() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := 0
	for _, n := range c.by {
		sum += n
	}
	return sum
}

// callers has so many callers of each gateway call without end, and watches how many calls the provider answers at once.
func (f *fleet) callers(t *testing.T, each int) (stop func(), most *peak, served *tally) {
	t.Helper()
	most, served = &peak{}, &tally{by: map[int]int{}}
	done := make(chan struct{})
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	t.Cleanup(client.CloseIdleConnections)
	var ended sync.WaitGroup
	over := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	for i, g := range f.gateways {
		for range each {
			ended.Go(func() {
				for !over() {
					status := f.post(client, g.URL, 20)
					f.answered[status].Add(1)
					if status == http.StatusOK {
						served.add(i)
					} else {
						time.Sleep(100 * time.Millisecond)
					}
				}
			})
		}
	}
	ended.Go(func() {
		for !over() {
			most.see(f.provider.InFlight())
			time.Sleep(time.Millisecond)
		}
	})
	return func() { close(done); ended.Wait() }, most, served
}

// withLimits adds limits to a policy.
func withLimits(policy string, more []string) string {
	return strings.Replace(policy, "    deadline:", strings.Join(more, "")+"    deadline:", 1)
}
