// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func data(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 / 3)
	}
	return b
}

func TestBodyIsReadWholeAndReplayable(t *testing.T) {
	for _, n := range []int{0, 1, 1000, least, least + 1, chunk, chunk + 1, smallBody, smallBody + 1, 3 << 20} {
		for _, known := range []bool{true, false} {
			budget := NewBudget(64 << 20)
			length := int64(-1)
			if known {
				length = int64(n)
			}
			b, err := Read(t.Context(), budget, bytes.NewReader(data(n)), length)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				r := b.Reader()
				got, err := io.ReadAll(r)
				if err != nil || !bytes.Equal(got, data(n)) {
					t.Fatalf("%d bytes, known %t: read %d bytes, %v", n, known, len(got), err)
				}
				_ = r.Close()
			}
			if !b.Replayable() {
				t.Errorf("%d bytes are not replayable", n)
			}
			b.Release()
			b.Release()
			if got := budget.Used(); got != 0 {
				t.Errorf("%d bytes, known %t: %d bytes were not given back", n, known, got)
			}
		}
	}
}

func TestB12BodyAboveTheSpoolIsStreamedThroughUnchanged(t *testing.T) {
	want := data(MaxReplayable + 12345)
	for _, length := range []int64{int64(len(want)), -1} {
		budget := NewBudget(128 << 20)
		b, err := Read(t.Context(), budget, bytes.NewReader(want), length)
		if err != nil {
			t.Fatal(err)
		}
		if b.Replayable() {
			t.Error("a body above the spool says it can be replayed")
		}
		r := b.Reader()
		h := sha256.New()
		if _, err := io.Copy(h, r); err != nil {
			t.Fatal(err)
		}
		if got := [32]byte(h.Sum(nil)); got != sha256.Sum256(want) {
			t.Error("the body changed on its way")
		}
		_ = r.Close()
		b.Release()
		if got := budget.Used(); got != 0 {
			t.Errorf("%d bytes were not given back", got)
		}
	}
}

// TestB12MemoryIsBoundedAndLargeBodiesTakeTurns: in simulated time, which stands still while a body is read, so that nobody's
// patience ends on a slow machine.
func TestB12MemoryIsBoundedAndLargeBodiesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(40 << 20)
		want := data(32 << 20)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				b, err := Read(t.Context(), budget, bytes.NewReader(want), int64(len(want)))
				if err != nil {
					t.Error(err)
					return
				}
				if used := budget.Used(); used > 40<<20 {
					t.Errorf("%d bytes are used", used)
				}
				b.Release()
			})
		}
		wg.Wait()
		if got := budget.Used(); got != 0 {
			t.Errorf("%d bytes were not given back", got)
		}
	})
}

func TestOverBudgetIsToldApartFromAClientThatStopped(t *testing.T) {
	budget := NewBudget(20 << 10)
	if _, err := Read(t.Context(), budget, bytes.NewReader(data(30<<10)), 30<<10); !errors.Is(err, ErrOverBudget) {
		t.Errorf("over the budget: %v", err)
	}
	if _, err := Read(t.Context(), budget, bytes.NewReader(data(50)), 80); !errors.Is(err, ErrClient) {
		t.Errorf("ended early: %v", err)
	}
	broken := iotest.ErrReader(errors.New("reset"))
	if _, err := Read(t.Context(), NewBudget(1<<20), broken, -1); !errors.Is(err, ErrClient) {
		t.Errorf("broken: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	big := NewBudget(1 << 20)
	held, err := Read(t.Context(), big, bytes.NewReader(data(900<<10)), 900<<10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(ctx, big, bytes.NewReader(data(500<<10)), 500<<10); !errors.Is(err, ErrOverBudget) {
		t.Errorf("a waiter whose client left: %v", err)
	}
	held.Release()
	if budget.Used() != 0 || big.Used() != 0 {
		t.Errorf("%d and %d bytes were not given back", budget.Used(), big.Used())
	}
}

func TestMemoryIsKeptWhileATransportStillReads(t *testing.T) {
	for _, n := range []int{1000, loose, loose + 1, 10_000} {
		budget := NewBudget(1 << 20)
		b, err := Read(t.Context(), budget, bytes.NewReader(data(n)), int64(n))
		if err != nil {
			t.Fatal(err)
		}
		r, s := b.Reader(), b.Spliced(10, 20, "insert")
		b.Release()
		other, err := Read(t.Context(), budget, bytes.NewReader(make([]byte, n)), int64(n))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data(n)) {
			t.Errorf("%d bytes: another body's were read, or %v", n, err)
		}
		want := append(append(append([]byte{}, data(n)[:10]...), "insert"...), data(n)[20:]...)
		if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, spliced: another body's were read, or %v", n, err)
		}
		_, _ = r.Close(), s.Close()
		other.Release()
		if budget.Used() != 0 {
			t.Errorf("%d bytes were not given back", budget.Used())
		}
	}
}

// TestSplicedBodyFillsEachRead: each read becomes a packet, so that parts must not be read one by one.
func TestSplicedBodyFillsEachRead(t *testing.T) {
	body, err := Read(t.Context(), NewBudget(1<<20), bytes.NewReader(data(10_000)), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Release()
	for _, at := range [][2]int{{0, 0}, {0, 7}, {5, 7}, {4096, 4096}, {9_990, 10_000}, {10_000, 10_000}} {
		want := append(append(append([]byte{}, data(10_000)[:at[0]]...), "insert"...), data(10_000)[at[1]:]...)
		r := body.Spliced(at[0], at[1], "insert")
		got := make([]byte, 0, len(want))
		for _, step := range []int{1, 4, 4096, 0, 3, 20_000} {
			n, err := r.Read(got[len(got):min(len(got)+step, cap(got))])
			if got = got[:len(got)+n]; err != nil || n != min(step, cap(got)-len(got)+n) {
				t.Errorf("%v: %d bytes where %d fit, %v", at, n, step, err)
			}
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
			t.Errorf("%v: read %d bytes, then %d and %v", at, len(got), n, err)
		}
		_ = r.Close()
	}
}

func TestSplicedBodyIsNoSecondCopy(t *testing.T) {
	budget := NewBudget(64 << 20)
	body, err := Read(t.Context(), budget, bytes.NewReader(data(8<<20)), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	want := append(append(append([]byte{}, data(8 << 20)[:5]...), "insert"...), data(8 << 20)[7:]...)
	r := body.Spliced(5, 7, "insert")
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	used := budget.Used()
	body.Release()
	if got := budget.Used(); got != used {
		t.Error("the memory was given back while a transport may read")
	}
	_ = r.Close()
	if got := budget.Used(); got != 0 {
		t.Errorf("%d bytes were not given back", got)
	}
	perRun := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for range b.N {
			r := body.Spliced(0, 0, "x")
			_ = r.Close()
		}
	}).AllocedBytesPerOp()
	if perRun > 1024 {
		t.Errorf("a spliced reader takes %d bytes", perRun)
	}
}

// TestB12SmallerBodyGoesWhenALargerOneGivesUp: who leaves the queue wakes those who fit without it.
func TestB12SmallerBodyGoesWhenALargerOneGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(100)
		if err := budget.take(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		large, small := make(chan error, 1), make(chan error, 1)
		go func() { large <- budget.take(ctx, 90) }()
		synctest.Wait()
		// Taken behind the large one, for tryTake would let it in at once.
		w := &waiter{need: 40, ready: make(chan struct{})}
		budget.mu.Lock()
		budget.waiters = append(budget.waiters, w)
		budget.mu.Unlock()
		go func() {
			<-w.ready
			small <- nil
		}()
		if err := <-large; !errors.Is(err, ErrOverBudget) {
			t.Errorf("the large one: %v", err)
		}
		synctest.Wait()
		select {
		case <-small:
		default:
			t.Error("the small one still waits")
			close(w.ready)
		}
	})
}
