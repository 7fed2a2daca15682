// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/wire"
)

func TestWaitsFallIntoTheirBuckets(t *testing.T) {
	bounds := wire.WaitBoundsMillis
	for name, tc := range map[string]struct {
		wait time.Duration
		want int
	}{
		"at once":         {0, 0},
		"before it began": {-time.Second, 0},
		"the first bound": {time.Duration(bounds[0]) * time.Millisecond, 0},
		"just above":      {time.Duration(bounds[0]+1) * time.Millisecond, 1},
		"above all":       {time.Duration(bounds[len(bounds)-1]+1) * time.Millisecond, len(bounds)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLane("chat")
			l.Sent(tc.wait, WaitBudget)
			for i, n := range l.Counts().Waits.Counts {
				if (n == 1) != (i == tc.want) || n > 1 {
					t.Errorf("bucket %d has %d", i, n)
				}
			}
		})
	}
}

func TestLaneCountsAddUp(t *testing.T) {
	l := newLane("chat")
	l.Offered(2000)
	l.Offered(500)
	l.Sent(2*time.Second, WaitBudget)
	l.Sent(0, WaitNone)
	l.Waited(3*time.Second, WaitProvider)
	l.End("success", "")
	l.End("refused", "Deadline")
	l.Refused("Deadline")
	l.Left()
	l.WouldHave(true, false)
	l.WouldHave(false, true)
	got := l.Counts()
	if total := got.Waits.Total; total != 2*time.Second {
		t.Errorf("waits of first sends add up to %v", total)
	}
	got.Waits = Waits{}
	want := LaneCounts{
		Offered: 2, Sent: 2, Cancelled: 1, WouldHaveRefused: 1, WouldHaveWaited: 1, LargestCall: 2000,
		Ended:   map[Ended]uint64{{"success", ""}: 1, {"refused", "Deadline"}: 1},
		Refused: map[string]uint64{"Deadline": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	sources := map[string]time.Duration{}
	for source, w := range l.WaitsBySource() {
		sources[source] = w.Total
	}
	if diff := cmp.Diff(map[string]time.Duration{WaitBudget: 2 * time.Second, WaitNone: 0, WaitProvider: 3 * time.Second}, sources); diff != "" {
		t.Error(diff)
	}
	got.Ended[Ended{"success", ""}] = 9
	if l.Counts().Ended[Ended{"success", ""}] != 1 {
		t.Error("what was returned is not a copy")
	}
}

func TestWorstWaitStartsAnewOnceTaken(t *testing.T) {
	l := newLane("chat")
	l.Sent(2*time.Second, WaitBudget)
	l.Sent(time.Second, WaitBudget)
	if got := l.TakeWorst(); got != 2*time.Second {
		t.Errorf("worst %v", got)
	}
	if got := l.TakeWorst(); got != 0 {
		t.Errorf("taken twice: %v", got)
	}
}

func TestLabelsAreBounded(t *testing.T) {
	r := NewRoute()
	l := r.Lane("chat")
	for i := range 1000 {
		name := strconv.Itoa(i)
		l.End("failed", name)
		l.Refused(name)
		r.Missing(name)
		r.FailedOverTo(name, "success")
		r.Billed(name, 1, -1, 0, 0)
		r.Lane(name)
	}
	for what, tc := range map[string]struct{ got, most int }{
		"endings":  {len(l.Counts().Ended), maxReasons + 1},
		"refusals": {len(l.Counts().Refused), maxReasons + 1},
		"missing":  {len(r.MissingByReason()), maxReasons + 1},
		"failover": {len(r.Failovers()), maxReasons + 1},
		"models":   {len(r.TokensByModel()), maxModels + 1},
		"lanes":    {len(r.Lanes()), maxLanes + 1},
	} {
		if tc.got > tc.most {
			t.Errorf("%d %s", tc.got, what)
		}
	}
	// Nothing is lost in the bound.
	var tokens, missing, failovers uint64
	for _, n := range r.Failovers() {
		failovers += n
	}
	for _, m := range r.TokensByModel() {
		tokens += m.Input
	}
	for _, n := range r.MissingByReason() {
		missing += n
	}
	if tokens != 1000 || missing != 1000 || failovers != 1000 || r.MissingByReason()[Other] == 0 {
		t.Errorf("%d tokens, %d missing, %d failovers", tokens, missing, failovers)
	}
	if r.Lane("one more") != r.Lane("another") || r.Lane("chat") != l {
		t.Error("lanes beyond the bound do not share one, or a known lane is lost")
	}
}

func TestCallsAreCountedWithTheirFirstSend(t *testing.T) {
	r := NewRoute()
	at := time.UnixMilli(1_700_000_000_000)
	for attempt := 1; attempt <= 3; attempt++ {
		r.Sent(attempt, at)
	}
	r.Sent(1, at.Add(time.Second))
	r.Finished(3)
	r.Finished(1)
	r.Finished(0) // never left
	r.Finished(maxAttempts + 5)
	if r.Calls.Load() != 2 || r.Sends.Load() != 4 || r.LastCallUnixMillis.Load() != at.UnixMilli()+1000 {
		t.Errorf("%d calls, %d sends, last at %d", r.Calls.Load(), r.Sends.Load(), r.LastCallUnixMillis.Load())
	}
	want := make([]uint64, maxAttempts+1)
	want[1], want[3], want[maxAttempts] = 1, 1, 1
	if diff := cmp.Diff(want, r.Attempts()); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownUsageCountsNothing(t *testing.T) {
	r := NewRoute()
	r.Billed("m", -1, 7, -1, 3)
	if diff := cmp.Diff(map[string]Tokens{"m": {Output: 7, CacheWrite: 3}}, r.TokensByModel()); diff != "" {
		t.Error(diff)
	}
}

func TestCountingIsSafeFromManyCalls(t *testing.T) {
	r := NewRoute()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 500 {
				l := r.Lane("chat")
				l.Offered(1)
				l.Sent(time.Millisecond, WaitBudget)
				l.End("success", "")
				r.Billed("m", 1, 1, 0, 0)
				r.Missing("x")
				_, _ = l.Counts(), r.Lanes()
			}
		})
	}
	all.Wait()
	if c := r.Lane("chat").Counts(); c.Offered != 4000 || c.Sent != 4000 || r.TokensByModel()["m"].Input != 4000 {
		t.Errorf("counts %+v", c)
	}
}
