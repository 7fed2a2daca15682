// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// waiters are tests that run at once: they wait for servers of their own, most of the time.
const waiters = 8

// shown is what Redis holds and says of all tests, and what went wrong with it, in which no password may stand and nothing of
// a call.
var (
	shown  canary.Watch
	held   = shown.Log("what Redis holds")
	failed = shown.Log("the errors")
)

func TestMain(m *testing.M) {
	redisserver.TellAll(held)
	if err := flag.Set("test.parallel", strconv.Itoa(waiters)); err != nil {
		panic(err)
	}
	leaks.VerifyTestMain(shown.Over(m))
}

// open runs a server without a disk, and a store in it whose time a test sets.
func open(t *testing.T) *Store {
	t.Helper()
	server := redisserver.Start(t, "--appendonly", "no")
	s, err := Open(Options{URL: server.URL(), Password: redisserver.Password, patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.use(clocked())
	return s
}

const moment = 20 * time.Millisecond

// TestOneHotDrawerAmongIdleOnesGetsTheRate, and the burst first.
func TestOneHotDrawerAmongIdleOnesGetsTheRate(t *testing.T) {
	w := newWorld(t, open(t), 1, pool.Budget{Name: "tokens", Rate: 100, Capacity: 300, SmallCall: 5, External: true})
	w.fate.delay = 2 * time.Millisecond
	hot := w.join("hot")
	for _, name := range []string{"a", "b", "c", "d"} {
		w.join(name)
	}
	begin := 0.0
	for w.now < 40*time.Second {
		w.step(moment)
		hot.purse.demand[0] = 150
		w.spend(hot, 0, 150)
		if w.now == 20*time.Second {
			begin = w.meters[0].spent
		}
	}
	if rate := (w.meters[0].spent - begin) / 20; rate < 98 || rate > 100.5 {
		t.Errorf("it had %v a second of 100", rate)
	}
	t.Logf("%.2f a second, the worst interval %.2f above the rate", (w.meters[0].spent-begin)/20, w.meters[0].worst)
}

// TestHungryDrawersHaveEvenParts, also where one asks for ten times as much, and what one does not need the others have.
func TestHungryDrawersHaveEvenParts(t *testing.T) {
	w := newWorld(t, open(t), 2, pool.Budget{Name: "tokens", Rate: 100, Capacity: 300, SmallCall: 5, External: true})
	w.fate.delay = 5 * time.Millisecond
	asks := []float64{150, 15, 15, 2}
	had, next := make([]float64, len(asks)), time.Duration(0)
	for i := range asks {
		w.join(string(rune('a' + i)))
	}
	for w.now < 40*time.Second {
		w.step(moment)
		for i, d := range w.drawers {
			d.purse.demand[0] = asks[i]
			per := asks[i]
			if i == 3 {
				// It needs two, and again 400 ms later.
				d.purse.demand[0], per = 0, 0
				if w.now >= next {
					d.purse.demand[0] = 2
					if d.purse.level[0] >= 2 {
						per, next = 2, w.now+400*time.Millisecond
					}
				}
			}
			if spent := w.spend(d, 0, per); w.now > 20*time.Second {
				had[i] += spent / 20
			}
		}
	}
	t.Logf("a second: %.2f", had)
	for i, x := range had[:3] {
		if x < 29 || x > 35 {
			t.Errorf("%d had %v, even parts are 32", i, x)
		}
	}
	// What it needs is there at its next draw but one.
	if had[3] < 3 {
		t.Errorf("the one that needs at most 5 had %v", had[3])
	}
	if sum := had[0] + had[1] + had[2] + had[3]; sum < 99 || sum > 101 {
		t.Errorf("all had %v of 100", sum)
	}
}

// TestLargeAndSmallCallsDoNotStarveEachOther: while small calls of one drawer take all they get, a large one of another's
// goes within its cost by half of the rate; while large calls wait without end, small ones have half.
func TestLargeAndSmallCallsDoNotStarveEachOther(t *testing.T) {
	w := newWorld(t, open(t), 3, pool.Budget{Name: "tokens", Rate: 100, Capacity: 1000, SmallCall: 5, External: true})
	w.fate.delay = 5 * time.Millisecond
	small, large, larger := w.join("small"), w.join("large"), w.join("larger")
	const cost = 400
	gone, longest, asked := map[*drawer]int{}, time.Duration(0), map[*drawer]time.Duration{}
	had := 0.0
	for w.now < 120*time.Second {
		w.step(moment)
		small.purse.demand[0] = 300
		if spent := w.spend(small, 0, 300); w.now > 20*time.Second {
			had += spent / 100
		}
		for _, d := range []*drawer{large, larger} {
			if d.purse.bulk == nil {
				d.purse.bulk, asked[d] = [][]pool.Amount{{{Budget: "tokens", Units: cost}}}, w.now
			}
			if d.purse.level[0] >= cost {
				w.spend(d, 0, cost)
				d.purse.bulk = nil
				gone[d]++
				longest = max(longest, w.now-asked[d])
			}
			if lack := d.purse.bulk; lack != nil {
				lack[0][0].Units = cost - d.purse.level[0]
			}
		}
	}
	t.Logf("small calls had %.1f of 100 a second, large ones went %d and %d times, each within %s", had, gone[large], gone[larger], longest)
	if had < 48 || had > 53 {
		t.Errorf("small calls had %v of 100", had)
	}
	// Each waits for the one before: 8 s by half of the rate, twice, and some draws.
	if longest > 17*time.Second || gone[large] < 6 || gone[larger] < 6 {
		t.Errorf("large calls went %d and %d times, the slowest after %s", gone[large], gone[larger], longest)
	}
}

// TestALargeCallOnTwoBudgetsGoesWhole, and where two drawers need the same two neither waits for the other for ever.
func TestALargeCallOnTwoBudgetsGoesWhole(t *testing.T) {
	w := newWorld(t, open(t), 4,
		pool.Budget{Name: "a", Rate: 10, Capacity: 300, External: true}, pool.Budget{Name: "b", Rate: 50, Capacity: 300, External: true})
	w.fate.delay = 5 * time.Millisecond
	first, second := w.join("first"), w.join("second")
	gone := map[*drawer]int{}
	for w.now < 120*time.Second {
		w.step(moment)
		for i, d := range []*drawer{first, second} {
			vector := []pool.Amount{{Budget: "a", Units: 100}, {Budget: "b", Units: 200}}
			if i == 1 {
				vector[0], vector[1] = vector[1], vector[0]
			}
			if (d.purse.level[0] >= 100) != (d.purse.level[1] >= 200) {
				t.Fatalf("%s: a part was granted: %v", w.now, d.purse.level)
			}
			if d.purse.level[0] >= 100 {
				w.spend(d, 0, 100)
				w.spend(d, 1, 200)
				gone[d]++
			}
			d.purse.bulk = [][]pool.Amount{vector}
		}
	}
	if gone[first] < 5 || gone[second] < 5 {
		t.Errorf("they went %d and %d times, 120 s bring 12", gone[first], gone[second])
	}
}
