// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// inFlight is how many calls all gateways together may have in flight.
const inFlight = 6

// TestGatewaysShareSlots without a coordinator: while each is asked for more calls at once than there are slots, the provider
// never sees more than those, all of them are used, and no gateway starves. While the store is not there the calls go on.
func TestGatewaysShareSlots(t *testing.T) {
	atOnce(t)
	f := newFleet(t, nil, "    - {name: in-flight, budget: InFlight, amount: 6}\n")
	f.join(3)
	stop, served := f.callers(t, 8)
	time.Sleep(warmUp + seconds())
	if n := f.waiting.most(); n > inFlight || n < inFlight/2 {
		t.Errorf("%d calls were in flight at once, there are %d slots", n, inFlight)
	}
	for i := range 3 {
		if served.get(i) == 0 {
			t.Errorf("gateway %d made no call", i)
		}
	}
	f.store.Kill()
	time.Sleep(6 * time.Second)
	before, deadline := served.all(), time.Now().Add(dataplane.Patience)
	for served.all() == before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if served.all() == before {
		t.Error("no call was made while the store was not there")
	}
	// What is in hand is in use for a while; one for each gateway that has none may come to it.
	if n := f.waiting.most(); n > inFlight+3 {
		t.Errorf("%d calls were in flight without the store", n)
	}
	f.store.Run()
	stop()
	if n := f.answered[0].Load() + f.answered[502].Load() + f.answered[500].Load(); n > 0 {
		t.Errorf("%d calls failed", n)
	}
}

// waiting counts the calls that a handler has not begun to answer: those are in flight for sure, whoever of the two ends first
// has seen the end.
type waiting struct {
	next    http.Handler
	mu      sync.Mutex
	n, peak int
}

func (w *waiting) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.count(1)
	a := &answering{ResponseWriter: rw, begins: sync.OnceFunc(func() { w.count(-1) })}
	defer a.begins()
	w.next.ServeHTTP(a, r)
}

func (w *waiting) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n += n
	w.peak = max(w.peak, w.n)
}

// most is how many there were at once.
func (w *waiting) most() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peak
}

// answering notices when an answer begins, before anybody can see it.
type answering struct {
	http.ResponseWriter
	begins func()
}

func (a *answering) WriteHeader(status int) { a.begins(); a.ResponseWriter.WriteHeader(status) }

func (a *answering) Write(b []byte) (int, error) { a.begins(); return a.ResponseWriter.Write(b) }

func (a *answering) Flush() { a.begins(); _ = http.NewResponseController(a.ResponseWriter).Flush() }

func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

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

// callers has so many callers of each gateway call without end.
func (f *fleet) callers(t *testing.T, each int) (stop func(), served *tally) {
	t.Helper()
	served = &tally{by: map[int]int{}}
	done := make(chan struct{})
	client := &http.Client{Timeout: dataplane.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
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
	return func() { close(done); ended.Wait() }, served
}

// withLimits adds limits to a policy.
func withLimits(policy string, more []string) string {
	return strings.Replace(policy, "    deadline:", strings.Join(more, "")+"    deadline:", 1)
}
