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

func TestB12MemoryIsBoundedAndLargeBodiesTakeTurns(t *testing.T) {
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
	budget := NewBudget(1 << 20)
	b, err := Read(t.Context(), budget, bytes.NewReader(data(1000)), 1000)
	if err != nil {
		t.Fatal(err)
	}
	r := b.Reader()
	b.Release()
	other, err := Read(t.Context(), budget, bytes.NewReader(make([]byte, 1000)), 1000)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data(1000)) {
		t.Error("another body's bytes were read")
	}
	_ = r.Close()
	other.Release()
	if budget.Used() != 0 {
		t.Errorf("%d bytes were not given back", budget.Used())
	}
}
