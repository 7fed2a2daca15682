// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open runs a server without a disk, and a store in it whose time a test sets.
func open(t *testing.T) *Store {
	t.Helper()
	server := redisserver.Start(t, "--appendonly", "no")
	s, err := Open(Options{URL: server.URL(), Password: redisserver.Password})
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
