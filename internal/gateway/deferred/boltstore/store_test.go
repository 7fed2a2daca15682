// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/storetest"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func opened(t *testing.T, dir string) (*Store, string) {
	t.Helper()
	s, aside, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, aside
}

func TestStore(t *testing.T) {
	s, aside := opened(t, t.TempDir())
	if aside != "" {
		t.Errorf("a new store was put aside as %s", aside)
	}
	storetest.Run(t, s)
}

// TestTicketsOutliveTheProcess: another one finds them as they were, and the file is not for others to read.
func TestTicketsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	s, _ := opened(t, dir)
	k := storetest.Ticket(time.Now(), []byte("body"))
	if err := s.Create(t.Context(), k, []byte("body")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openWithin(dir, time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), k, store.Bodies{}); !errors.Is(err, store.ErrBroken) {
		t.Errorf("after its end the store took a ticket: %v", err)
	}
	again, aside := opened(t, dir)
	var found []*ticket.Ticket
	damaged, err := again.Load(t.Context(), func(k *ticket.Ticket) { found = append(found, k) })
	if err != nil || damaged != 0 || aside != "" || len(found) != 1 || found[0].ID != k.ID {
		t.Errorf("found %v, %d damaged, aside %q, %v", found, damaged, aside, err)
	}
	info, err := os.Stat(filepath.Join(dir, fileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// filled is the file of a store with tickets in it.
func filled(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	s, _ := opened(t, dir)
	for range 40 {
		body := bytes.Repeat([]byte("x"), 3000)
		if err := s.Create(t.Context(), storetest.Ticket(time.Now(), body), body); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDamagedFilesArePutAside: the store opens anew, empty, and takes tickets; the old file is kept for whoever wants
// to look.
func TestDamagedFilesArePutAside(t *testing.T) {
	whole := filled(t)
	for name, content := range map[string][]byte{
		"garbage":   bytes.Repeat([]byte("garbage "), 4096),
		"a line":    []byte("not a database\n"),
		"truncated": whole[:len(whole)/2],
		"one page":  whole[:4096],
		"zeros":     make([]byte, len(whole)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, fileName), content, 0o600); err != nil {
				t.Fatal(err)
			}
			s, aside := opened(t, dir)
			kept, err := os.ReadFile(aside)
			if err != nil || !bytes.Equal(kept, content) {
				t.Errorf("put aside: %d bytes of %d, %v", len(kept), len(content), err)
			}
			if err := s.Create(t.Context(), storetest.Ticket(time.Now(), nil), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoDamageEndsTheProcess: whatever bytes of the file are changed, opening and using it end, with tickets or errors;
// a ticket whose record was hit is counted and removed.
func TestNoDamageEndsTheProcess(t *testing.T) {
	whole := filled(t)
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "damaged") //nolint:usetesting // one for each draw
		if err != nil {
			r.Fatal(err)
		}
		content := bytes.Clone(whole)
		for range rapid.IntRange(1, 20).Draw(r, "places") {
			at := rapid.IntRange(0, len(content)-1).Draw(r, "at")
			for i := range rapid.IntRange(1, 16).Draw(r, "bytes") {
				if at+i < len(content) {
					content[at+i] = byte(rapid.IntRange(0, 255).Draw(r, "byte"))
				}
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fileName), content, 0o600); err != nil {
			r.Fatal(err)
		}
		use(r, dir)
		use(r, dir) // as the next run finds it
	})
}

func use(r *rapid.T, dir string) {
	s, _, err := Open(dir)
	if err != nil {
		r.Fatalf("the gateway would have no store: %v", err)
	}
	ctx := context.Background()
	read := 0
	if _, err := s.Load(ctx, func(k *ticket.Ticket) {
		read++
		_, _ = s.Read(ctx, k.ID)
	}); err != nil && !errors.Is(err, store.ErrBroken) {
		r.Fatal(err)
	}
	k := storetest.Ticket(time.Now(), nil)
	if err := s.Create(ctx, k, nil); err != nil && !errors.Is(err, store.ErrBroken) {
		r.Fatal(err)
	}
	_ = s.Delete(ctx, k.ID)
	_ = s.Close()
	_ = os.Remove(filepath.Join(dir, asideName))
}

// TestAStoreThatBreaksIsReplaced at the next start, and takes nothing more until then.
func TestAStoreThatBreaksIsReplaced(t *testing.T) {
	dir := t.TempDir()
	s, _ := opened(t, dir)
	if err := s.judge(guard(func() error { panic("page 7 is no page") })); !errors.Is(err, store.ErrBroken) {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), storetest.Ticket(time.Now(), nil), nil); !errors.Is(err, store.ErrBroken) {
		t.Errorf("a broken store took a ticket: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, aside := opened(t, dir)
	if aside == "" {
		t.Error("the broken file is in use again")
	}
	if err := again.Create(t.Context(), storetest.Ticket(time.Now(), nil), nil); err != nil {
		t.Error(err)
	}
}

// TestTheTimeBetweenRuns counts as what has passed, at most an hour, and never backwards.
func TestTheTimeBetweenRuns(t *testing.T) {
	last := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ wall, want time.Time }{
		"a restart":           {last.Add(40 * time.Second), last.Add(40 * time.Second)},
		"a clock set back":    {last.Add(-1000 * time.Hour), last},
		"a clock set forward": {last.Add(10_000 * time.Hour), last.Add(time.Hour)},
		"the year 0":          {time.Time{}, last},
	} {
		if got := continued(last, c.wall); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := continued(time.Time{}, last); !got.Equal(last) {
		t.Errorf("the first run starts at %s", got)
	}
}

// TestTheTimeIsKept with every write, so that the next run goes on from there.
func TestTheTimeIsKept(t *testing.T) {
	dir := t.TempDir()
	s, _ := opened(t, dir)
	s.clock.base = s.clock.base.Add(1000 * time.Hour) // as if the machine's clock had been far ahead
	if err := s.Create(t.Context(), storetest.Ticket(time.Now(), nil), nil); err != nil {
		t.Fatal(err)
	}
	before, _ := s.Now(t.Context())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := opened(t, dir)
	after, _ := again.Now(t.Context())
	if after.Before(before.Add(-time.Second)) || after.Sub(before) > time.Minute {
		t.Errorf("the time was %s and is %s", before, after)
	}
}

// TestUnreadableRecordsAreRemoved and counted; the others stay.
func TestUnreadableRecordsAreRemoved(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	good := storetest.Ticket(time.Now(), nil)
	if err := s.Create(t.Context(), good, nil); err != nil {
		t.Fatal(err)
	}
	bad := storetest.Ticket(time.Now(), []byte("body"))
	if err := s.update(putRaw(bad.ID, "rubbish")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		n := 0
		damaged, err := s.Load(t.Context(), func(*ticket.Ticket) { n++ })
		if err != nil || damaged != want || n != 1 {
			t.Errorf("%d read, %d damaged, want %d; %v", n, damaged, want, err)
		}
	}
	if _, err := s.Body(t.Context(), bad.ID, store.Request); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("the body of a record that was removed: %v", err)
	}
}

func BenchmarkCreate(b *testing.B) {
	s, _, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	body := bytes.Repeat([]byte("x"), 4096)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Create(b.Context(), storetest.Ticket(time.Now(), body), body); err != nil {
				b.Error(err)
			}
		}
	})
}
