// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// owner has a ledger with one pool, and leads in a term, or not in term 0.
type owner struct {
	mu     sync.Mutex
	ledger *ledger.Ledger
	term   uint64
}

func newOwner() *owner {
	o := &owner{ledger: ledger.New(ledger.Options{External: true}), term: 1}
	now := time.Now()
	o.ledger.Lead(ledger.Leadership{Epoch: 1, First: true}, now)
	o.ledger.SetPlan("ns", &plan.Plan{Namespace: "ns", Policies: []plan.Policy{{Name: "p", MaxGateways: 10, Routes: []plan.Route{{
		Name: "anthropic", Lanes: []plan.Lane{{Name: "default", SharePermille: 1000}},
		Limits: []plan.Limit{{Name: "tokens", Budget: plan.InputTokens, Amount: 6000, WindowSeconds: 60, Burst: 6000}},
	}}}}}, now)
	return o
}

func (o *owner) With(_ context.Context, do func(l *ledger.Ledger, term uint64, now time.Time)) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.term == 0 {
		return false
	}
	do(o.ledger, o.term, time.Now())
	o.ledger.Advance(time.Now())
	return true
}

func (o *owner) lead(term uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.term = term
}

// store answers what it is told to, and remembers what it was asked.
type store struct {
	mu        sync.Mutex
	err       error
	stalls    bool
	under     int
	most      int
	incarnate []string
	leaving   int
	version   uint64
}

func (s *store) Close() error { return nil }

func (s *store) Draw(ctx context.Context, requests []*budgetstore.Request) []budgetstore.Result {
	s.mu.Lock()
	s.under++
	s.most = max(s.most, s.under)
	stalls, err := s.stalls, s.err
	s.mu.Unlock()
	if stalls {
		<-ctx.Done()
		err = ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under--
	out := make([]budgetstore.Result, len(requests))
	for i, r := range requests {
		s.incarnate = append(s.incarnate, r.Incarnation)
		if r.Leaving {
			s.leaving++
		}
		s.version++
		if out[i].Err = err; err == nil {
			out[i].Answer = &budgetstore.Answer{Instance: "i", Version: s.version, Stamp: 1, Lines: make([]budgetstore.Granted, len(r.Lines))}
		}
	}
	return out
}

func (s *store) set(stalls bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls, s.err = stalls, err
}

// asked are the incarnations that drew, one after the other.
func (s *store) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.incarnate...)
}

// running runs a loop for as long as do lasts.
func running(t *testing.T, do func(o *owner, s *store, l *Loop, log *bytes.Buffer)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		o, s, log := newOwner(), &store{}, &bytes.Buffer{}
		l := New(Options{Store: s, Owner: o, Name: "manager/east", Log: slog.New(slog.NewTextHandler(log, nil))})
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); l.Run(ctx) }()
		do(o, s, l, log)
		cancel()
		<-ended
	})
}

// TestAStoreThatStallsHoldsNothingUp: two batches wait for it at the most, and the ledger is its owner's meanwhile.
func TestAStoreThatStallsHoldsNothingUp(t *testing.T) {
	running(t, func(o *owner, s *store, l *Loop, _ *bytes.Buffer) {
		s.set(true, nil)
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			l.Poke()
			// All others wait now, for time or for the store.
			synctest.Wait()
			if !o.mu.TryLock() {
				t.Fatal("the ledger is held while the store is waited for")
			}
			o.mu.Unlock()
		}
		s.mu.Lock()
		most := s.most
		s.mu.Unlock()
		if most == 0 || most > batches {
			t.Errorf("%d batches were under way", most)
		}
	})
}

// TestAStoreThatIsLost is told once, and that it is back, without what its error holds beyond itself; the metrics say so.
func TestAStoreThatIsLost(t *testing.T) {
	running(t, func(_ *owner, s *store, l *Loop, log *bytes.Buffer) {
		time.Sleep(3 * time.Second)
		if _, lost := l.Lost(); lost || testutil.ToFloat64(l.state.up) != 1 {
			t.Errorf("lost while it answers: up is %v", testutil.ToFloat64(l.state.up))
		}
		s.set(false, errors.New("connection refused"))
		since := time.Now()
		time.Sleep(20 * time.Second)
		at, lost := l.Lost()
		if after := at.Sub(since); !lost || after < 0 || after > budgetstore.Life || testutil.ToFloat64(l.state.up) != 0 {
			t.Errorf("lost is %v, after %s", lost, after)
		}
		if n := testutil.ToFloat64(l.state.draws.WithLabelValues(failed)); n < 15 || n > 100 {
			t.Errorf("%v draws failed in 20 seconds", n)
		}
		s.set(false, budgetstore.ErrRefused)
		time.Sleep(3 * time.Second)
		if testutil.ToFloat64(l.state.draws.WithLabelValues(refused)) == 0 {
			t.Error("no draw was refused")
		}
		s.set(false, nil)
		time.Sleep(3 * time.Second)
		if _, lost := l.Lost(); lost {
			t.Error("lost though it answers again")
		}
		text := log.String()
		if strings.Count(text, "is lost") != 1 || strings.Count(text, "is back") != 1 || !strings.Contains(text, "connection refused") {
			t.Errorf("it was told: %s", text)
		}
		if strings.Contains(text, "anthropic") {
			t.Errorf("a pool's name is in the log: %s", text)
		}
	})
}

// TestEachLeadershipHasADrawerOfItsOwn, and one that ended draws nothing.
func TestEachLeadershipHasADrawerOfItsOwn(t *testing.T) {
	running(t, func(o *owner, s *store, l *Loop, _ *bytes.Buffer) {
		time.Sleep(3 * time.Second)
		o.lead(0)
		time.Sleep(time.Second)
		before := len(s.asked())
		time.Sleep(5 * time.Second)
		if n := len(s.asked()); n != before || testutil.ToFloat64(l.state.up) != 0 {
			t.Errorf("%d draws by who does not lead", n-before)
		}
		o.lead(2)
		time.Sleep(3 * time.Second)
		asked := s.asked()
		if len(asked) <= before || asked[0] == asked[len(asked)-1] {
			t.Errorf("the next leader drew %d times, by the incarnation of the one before", len(asked)-before)
		}
	})
}

// TestLeaveGivesEverythingBack, once the loop has ended.
func TestLeaveGivesEverythingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, s := newOwner(), &store{}
		l := New(Options{Store: s, Owner: o, Name: "gateway/a"})
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		l.Run(ctx)
		l.Leave(context.Background())
		if s.leaving != 1 {
			t.Errorf("%d draws say that the drawer leaves", s.leaving)
		}
		s.set(true, nil)
		began := time.Now()
		l.Leave(context.Background())
		if took := time.Since(began); took > 2*callTimeout {
			t.Errorf("a store that stalls kept it for %s", took)
		}
	})
}

// TestWhatWasSleptCounts, and a clock that is set back does not.
func TestWhatWasSleptCounts(t *testing.T) {
	var e elapsed
	now := time.Now()
	e.at(now)
	for name, c := range map[string]struct{ wall, want time.Duration }{
		"in step": {time.Second, 0}, "suspended": {time.Minute, 59 * time.Second}, "set back": {-time.Hour, 0},
		"years": {100_000 * time.Hour, longestSleep},
	} {
		t.Run(name, func(t *testing.T) {
			e := e
			// The wall's time of one reading and the monotonic one of another cannot be put together: the gap is told of.
			e.gap(c.wall - time.Second)
			if got := e.slept; got != c.want {
				t.Errorf("%s counted, %s slept", got, c.want)
			}
		})
	}
}
