// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
)

// shelf keeps the leader's state for the next one, as the ConfigMap does.
type shelf struct {
	mu      sync.Mutex
	content []byte
	fails   error
	loads   int
	writes  []time.Time
}

func (s *shelf) Load(context.Context) (state ledger.State, found bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	if s.fails != nil || s.content == nil {
		return state, false, s.fails
	}
	if err := json.Unmarshal(s.content, &state); err != nil {
		return ledger.State{}, true, errors.Join(coordinator.ErrState, err)
	}
	return state, true, nil
}

func (s *shelf) Store(_ context.Context, state ledger.State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, time.Now())
	if s.fails != nil {
		return s.fails
	}
	var err error
	s.content, err = json.Marshal(state)
	return err
}

// written are the times of all writes.
func (s *shelf) written() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

func (s *shelf) put(content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = content
}

// outage is a world with a busy fleet on replica a.
type outage struct {
	*world
	a     *replica
	p     *provider
	shelf *shelf
	all   []*drawing
}

func newOutage(t *testing.T, gateways int) *outage {
	t.Helper()
	o := &outage{world: newWorld(t), shelf: &shelf{}}
	o.first, o.states = true, o.shelf
	o.a = o.start("a", coordinator.Bounds{}, nil)
	o.lead("a")
	o.a.setPlan(drawPlan("ns", 1))
	time.Sleep(time.Second)
	o.p = newProvider()
	for i := range gateways {
		o.all = append(o.all, o.draw(o.pod("ns", name(i), nil), o.p, small(1500/float64(gateways))))
	}
	time.Sleep(20 * time.Second)
	return o
}

// C11: the coordinator is killed and back. Gateways spend what they have while their lease lasts, then their safe shares;
// the next leader bursts nothing.
// Fault C11: When the control plane was gone, proxies failed calls, or let everything through.
// Headgate: A gateway keeps what it was granted for its time, then takes a share that is safe for all, and is granted again
// without a burst; what fits in that share is served.
func TestC11CoordinatorKilledAndBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 5)
		o.a.kill()
		time.Sleep(15 * time.Second)
		for _, d := range o.all {
			if d.Leased() {
				t.Error("a lease lasts longer than its time")
			}
		}
		// Five safe shares of a fortieth each.
		if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.1 || used > 0.14 {
			t.Errorf("without a coordinator they used %.3f of the rate, want an eighth", used)
		}
		o.mu.Lock()
		o.first = false
		o.mu.Unlock()
		o.a = o.start("a", coordinator.Bounds{}, nil)
		defer func() { o.a.kill() }()
		o.lead("a")
		o.a.setPlan(drawPlan("ns", 1))
		time.Sleep(15 * time.Second)
		if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("after its return they used %.3f of the rate", used)
		}
		leaveDrawings(o.all)
		o.p.check(t)
	})
}

// E10: another replica takes over, by a crash or in good order, and flaps back: what gateways have they keep, and nothing
// is granted twice.
func TestE10LeadersChange(t *testing.T) {
	for how, crash := range map[string]bool{"crash": true, "abdication": false} {
		t.Run(how, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				o := newOutage(t, 5)
				b := o.start("b", coordinator.Bounds{}, nil)
				b.setPlan(drawPlan("ns", 1))
				o.mu.Lock()
				o.first = false
				o.mu.Unlock()
				used := o.p.over(func() {
					if crash {
						o.a.kill()
						time.Sleep(2 * time.Second)
					}
					o.lead("b")
					time.Sleep(30 * time.Second)
					if !crash { // and back, several times
						for _, leader := range []string{"a", "b", "a", "b"} {
							o.lead(leader)
							time.Sleep(4 * time.Second)
						}
					}
					time.Sleep(44 * time.Second)
				})
				t.Logf("over the change they used %.3f of the rate", used)
				if used < map[bool]float64{true: 0.9, false: 0.6}[crash] { // every change of leader costs what it has to learn
					t.Errorf("over the change they used %.3f of the rate", used)
				}
				if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
					t.Errorf("after the change they used %.3f of the rate", used)
				}
				leaveDrawings(o.all)
				o.p.check(t)
				b.kill()
				if !crash {
					o.a.kill()
				}
			})
		})
	}
}

// A gateway that is cut off costs what it held; the others have the rest of the rate, and all of it once its pod is gone.
func TestAGatewayThatIsCutOff(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 3)
		defer o.a.kill()
		lost := o.all[0]
		o.mu.Lock()
		o.expelled = lost.pod
		o.mu.Unlock()
		o.a.pipes.cutOne(lost.pod)
		time.Sleep(15 * time.Second)
		if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("with its safe share all used %.3f of the rate", used)
		}
		lost.leave()
		o.mu.Lock()
		delete(o.pods, lost.pod)
		o.mu.Unlock()
		time.Sleep(10 * time.Second)
		if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("the others used %.3f of the rate", used)
		}
		leaveDrawings(o.all[1:])
		o.p.check(t)
	})
}

// A new leader leaves its safe share to a gateway it has never heard of, since the pod is there.
func TestANewLeaderExpectsWhatPodsThereAre(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 10)
		b := o.start("b", coordinator.Bounds{}, nil)
		b.setPlan(drawPlan("ns", 1))
		defer b.kill()
		lost := map[figures.Pod]bool{}
		o.mu.Lock()
		o.first = false
		for _, d := range o.all[:2] {
			lost[d.pod] = true
		}
		o.gateways = lost
		o.unreachable = lost
		o.mu.Unlock()
		o.a.kill()
		o.lead("b")
		time.Sleep(30 * time.Second)
		silent := 0
		for _, f := range b.Budgets().Routes {
			silent = f.Silent
		}
		if silent != 2 {
			t.Errorf("%d gateways are expected and silent, want 2", silent)
		}
		if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.97 {
			t.Errorf("with two safe shares all used %.3f of the rate", used)
		}
		leaveDrawings(o.all)
		o.p.check(t)
	})
}

// A leader whose lease has ended grants nothing, though nobody told it; with the lease renewed it goes on.
func TestALeaderGrantsOnlyWhileItsLeaseLasts(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 2)
		defer o.a.kill()
		o.mu.Lock()
		o.until = time.Now().Add(5 * time.Second)
		o.mu.Unlock()
		time.Sleep(16 * time.Second)
		for _, d := range o.all {
			if d.Leased() {
				t.Error("a leader without a lease gave one")
			}
		}
		if used := o.p.over(func() { time.Sleep(30 * time.Second) }); used > 0.06 {
			t.Errorf("they used %.3f of the rate, with safe shares of a twentieth", used)
		}
		o.mu.Lock()
		o.until = time.Now().Add(time.Hour)
		o.mu.Unlock()
		time.Sleep(15 * time.Second)
		if used := o.p.over(func() { time.Sleep(30 * time.Second) }); used < 0.97 {
			t.Errorf("with the lease renewed they used %.3f of the rate", used)
		}
		leaveDrawings(o.all)
		o.p.check(t)
	})
}

// Whoever has business with the ledger has it alone, while this replica leads, and waits no longer than it wants.
func TestOthersHaveTheLedgerAlone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 1)
		terms := map[uint64]int{}
		note := func(l *ledger.Ledger, term uint64, now time.Time) {
			if f := l.Figures(now); f.Holders == 1 {
				terms[term]++
			}
		}
		for range 3 {
			if !o.a.With(t.Context(), note) {
				t.Error("the leader has no ledger")
			}
		}
		if len(terms) != 1 {
			t.Errorf("terms %v", terms)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if o.a.With(ended, note) {
			t.Error("who does not wait was served")
		}
		o.lead("")
		time.Sleep(time.Second)
		if o.a.With(t.Context(), note) {
			t.Error("a replica that does not lead has a ledger")
		}
		leaveDrawings(o.all)
		o.a.kill()
		if o.a.With(context.Background(), note) {
			t.Error("a coordinator that ended has a ledger")
		}
	})
}

// What the next leader must know is written at most once a second, and not at all while nothing changes.
func TestTheStateIsWrittenSparingly(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 3)
		defer o.a.kill()
		time.Sleep(10 * time.Minute)
		for i := range int64(20) { // edits that each change what is to be known
			p := drawPlan("ns", i+2)
			p.Policies[0].Routes[0].Limits[0].Burst += i
			o.a.setPlan(p)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		leaveDrawings(o.all)
		steady := 0
		written := o.shelf.written()
		began := written[0]
		for i, at := range written {
			if i > 0 && at.Sub(written[i-1]) < time.Second {
				t.Errorf("two writes within %v", at.Sub(written[i-1]))
			}
			if since := at.Sub(began); since > time.Minute && since < 9*time.Minute {
				steady++
			}
		}
		t.Logf("%d writes in all, %d in eight steady minutes", len(o.shelf.written()), steady)
		if steady > 2 {
			t.Errorf("%d writes in eight minutes in which nothing changed", steady)
		}
	})
}

var errShelf = errors.New("the API server is down")

// C11: while the state cannot be written, gateways go on; when it can again, it is.
func TestC11GrantsGoOnWithoutTheAPIServer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 3)
		defer o.a.kill()
		o.shelf.fail(errShelf)
		if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("they used %.3f of the rate", used)
		}
		p := drawPlan("ns", 2)
		p.Policies[0].Routes[0].Limits[0].Burst = drawnBurst - 10
		o.a.setPlan(p)
		time.Sleep(20 * time.Second)
		failed := len(o.shelf.written())
		o.shelf.fail(nil)
		time.Sleep(5 * time.Second)
		if n := len(o.shelf.written()); failed < 3 || failed > 25 || n == failed {
			t.Errorf("%d writes failed in 20 seconds, %d came after", failed, n-failed)
		}
		leaveDrawings(o.all)
		o.p.check(t)
	})
}

// C11: while the API server is down, who is connected goes on as before; who comes new stays on its safe share.
func TestC11NewcomersWithoutTheAPIServer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		o := newOutage(t, 2)
		defer o.a.kill()
		o.mu.Lock()
		o.down = true
		o.mu.Unlock()
		late := o.draw(o.pod("ns", "late", nil), o.p, small(500))
		if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
			t.Errorf("they used %.3f of the rate", used)
		}
		if share := late.Spent("tokens") / 60; late.Leased() || share > drawnRate/40+50 {
			t.Errorf("a newcomer has a lease (%v) or %.0f tokens a second", late.Leased(), share)
		}
		o.mu.Lock()
		o.down = false
		o.mu.Unlock()
		time.Sleep(20 * time.Second)
		if !late.Leased() {
			t.Error("it was not granted anything when the API server was back")
		}
		leaveDrawings(append(o.all, late))
		o.p.check(t)
	})
}

// The next leader finds the state gone, damaged, or out of reach: it counts on the worst, begins all the same, and nothing
// bursts. The lease looks as if nobody had led before in two of these cases.
func TestNextLeaderWithoutAState(t *testing.T) {
	for name, tc := range map[string]struct {
		first bool
		spoil func(*shelf)
	}{
		"deleted":                {false, func(s *shelf) { s.put(nil) }},
		"damaged":                {false, func(s *shelf) { s.put([]byte("{")) }},
		"somebody else's":        {false, func(s *shelf) { s.put([]byte(`{"version":1,"origin":"x","epoch":1}`)) }},
		"out of reach":           {false, func(s *shelf) { s.fail(errShelf) }},
		"damaged, lease deleted": {true, func(s *shelf) { s.put([]byte("{")) }},
		"there, lease deleted":   {true, func(*shelf) {}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				o := newOutage(t, 5)
				b := o.start("b", coordinator.Bounds{}, nil)
				b.setPlan(drawPlan("ns", 1))
				defer b.kill()
				// Part of the fleet is cut off with what it has, and the next leader hears nothing of it.
				o.mu.Lock()
				o.first = tc.first
				o.mu.Unlock()
				o.a.kill()
				tc.spoil(o.shelf)
				time.Sleep(time.Second)
				o.lead("b")
				time.Sleep(30 * time.Second)
				if used := o.p.over(func() { time.Sleep(time.Minute) }); used < 0.98 {
					t.Errorf("after the change they used %.3f of the rate", used)
				}
				leaveDrawings(o.all)
				o.p.check(t)
			})
		})
	}
}
