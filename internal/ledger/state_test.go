// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// unknown is what a new leader takes for outstanding of a limit.
func (w *world) unknown(l *Ledger, key Key, name string) float64 {
	w.tb.Helper()
	s := l.pools[key]
	if s == nil {
		w.fatalf("there is no pool %v", key)
		return 0
	}
	for _, b := range s.pool.Figures(w.clock()).Budgets {
		if b.Name == name {
			return b.Unknown
		}
	}
	w.fatalf("there is no budget %s", name)
	return 0
}

// next starts a ledger as a leader that comes after another.
func (w *world) next(by Leadership) *Ledger {
	l := New(w.opts)
	l.SetAccounts(w.accounts, w.clock())
	for ns, p := range w.plans {
		l.SetPlan(ns, p, w.clock())
	}
	l.Lead(by, w.clock())
	return l
}

func TestWhatADocumentIsWorth(t *testing.T) {
	w := newWorld(t, 1, lan)
	r := w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 100_000))
	key, full := Key{Route: r}, 95_000.0
	l := w.next(Leadership{Epoch: 5, First: true})
	s := l.State(w.clock())
	if len(s.Pools) != 0 || len(s.Usual) != digestBytes {
		t.Fatalf("nothing is unusual, and the state says %+v", s)
	}
	edit := func(do func(s *State)) State {
		changed := s
		changed.Usual = bytes.Clone(s.Usual)
		do(&changed)
		return changed
	}
	tests := map[string]struct {
		by    Leadership
		trust Trust
		want  float64
	}{
		"the last":          {Leadership{Epoch: 6, Last: s}, Trusted, full / 2},
		"the very last":     {Leadership{Epoch: 6, Before: 5, Last: s}, Trusted, full / 2},
		"none":              {Leadership{Epoch: 6}, Missing, full},
		"none, at first":    {Leadership{Epoch: 6, First: true}, Missing, 0},
		"one belies first":  {Leadership{Epoch: 6, First: true, Last: s}, Trusted, full / 2},
		"older":             {Leadership{Epoch: 8, Before: 7, Last: s}, Older, full},
		"newer":             {Leadership{Epoch: 5, Last: s}, Newer, full},
		"foreign":           {Leadership{Epoch: 6, Last: edit(func(s *State) { s.Origin = "there"; s.Sum = s.sum() })}, Foreign, full},
		"damaged":           {Leadership{Epoch: 6, Last: edit(func(s *State) { s.Usual[0]++ })}, Damaged, full},
		"without its sum":   {Leadership{Epoch: 6, Last: edit(func(s *State) { s.Sum = "" })}, Damaged, full},
		"of another pool":   {Leadership{Epoch: 6, Last: edit(func(s *State) { s.Usual[0]++; s.Sum = s.sum() })}, Trusted, full},
		"cut digests":       {Leadership{Epoch: 6, Last: edit(func(s *State) { s.Usual = s.Usual[:5]; s.Sum = s.sum() })}, Trusted, full},
		"of a later format": {Leadership{Epoch: 6, Last: edit(func(s *State) { s.Version = 2; s.Sum = s.sum() })}, Missing, full},
		"of one that owes": {Leadership{Epoch: 6, Last: edit(func(s *State) {
			s.Usual, s.Pools = nil, []PoolState{{Namespace: "a", Policy: "chat", Provider: "openai", Budgets: []BudgetState{{Name: "own", Debt: 10, Outstanding: 60_000}}}}
			s.Sum = s.sum()
		})}, Trusted, 60_000},
		"of more than there is": {Leadership{Epoch: 6, Last: edit(func(s *State) {
			s.Usual, s.Pools = nil, []PoolState{{Namespace: "a", Policy: "chat", Provider: "openai", Budgets: []BudgetState{{Name: "own", Debt: -1e300, Outstanding: 1e300}}}}
			s.Sum = s.sum()
		})}, Trusted, full},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.by.Trust("here"); got != tc.trust {
				t.Errorf("it is %s, want %s", got, tc.trust)
			}
			if got := w.unknown(w.next(tc.by), key, "own"); got != tc.want {
				t.Errorf("%v may be outstanding, want %v", got, tc.want)
			}
		})
	}
}

// A pool that is edited between two leaders is unknown to the second: the document is about another one.
func TestAnEditedPoolIsUnknownToTheNextLeader(t *testing.T) {
	w := newWorld(t, 1, lan)
	r := w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 200_000))
	last := w.next(Leadership{Epoch: 1, First: true}).State(w.clock())
	w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 100_000))
	l := w.next(Leadership{Epoch: 2, Last: last})
	if got := w.unknown(l, Key{Route: r}, "own"); got != 95_000 {
		t.Errorf("%v may be outstanding, want all of 95,000", got)
	}
}

func TestStalenessAndPublishing(t *testing.T) {
	w := newWorld(t, 1, lan)
	w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 60_000))
	l := w.next(Leadership{Epoch: 9, First: true})
	if !l.Stale() {
		t.Error("a new leader has nothing to publish")
	}
	s := l.State(w.clock())
	if !l.Stale() {
		t.Error("what is not published is not told")
	}
	l.Published(s)
	if l.Stale() {
		t.Error("what is published is to be published again")
	}
	if again := l.State(w.clock()); !again.Same(&s) {
		t.Error("nothing changed, and the state is not the same")
	}
	w.policy("b", "chat", "", 4, lanes(1000), tokens("own", 60_000, 60_000))
	l.SetPlan("b", w.plans["b"], w.clock())
	l.Advance(w.clock())
	if !l.Stale() {
		t.Error("a new pool is not told")
	}
	older := l.State(w.clock())
	l.SetPlan("b", nil, w.clock())
	l.Advance(w.clock())
	l.Published(older)
	if !l.Stale() {
		t.Error("a pool that went meanwhile is not told")
	}
	newer := l.State(w.clock())
	if newer.Same(&older) {
		t.Error("a pool less is the same")
	}
	foreign := newer
	foreign.Epoch++
	l.Published(foreign)
	if !l.Stale() {
		t.Error("another leader's state counts as published")
	}
	l.Published(newer)
	if l.Stale() {
		t.Error("it is stale at the end")
	}
}

// A large call of more than half waits until the next leader would know of it.
func TestALargeCallWaitsForThePublishing(t *testing.T) {
	w := newWorld(t, 1, lan)
	r := w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 60_000))
	w.lead(time.Hour)
	o := w.join("g", r).offer(&load{large: 50_000})
	w.mute = true
	w.goOn(2 * time.Minute)
	if len(o.waits) != 0 {
		t.Fatal("it went, and the next leader does not know")
	}
	w.mute = false
	w.goOn(5 * time.Second)
	if len(o.waits) != 1 {
		t.Fatalf("%d calls went after the publishing", len(o.waits))
	}
	s, err := ParseState(w.document)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pools) != 1 || s.Pools[0].Budgets[0].Outstanding < 50_000 {
		t.Errorf("the document says %+v", s.Pools)
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	l := New(Options{})
	long := strings.Repeat("n", 200)
	const namespaces, policies = 34, 1000
	for i := range namespaces {
		p := plan.Plan{}
		for k := range policies {
			r := plan.Route{Name: "openai", Limits: []plan.Limit{tokens("input", 60_000, 60_000)}, Lanes: lanes(1000)}
			p.Policies = append(p.Policies, plan.Policy{Name: fmt.Sprint(long, k), MaxGateways: 2, Routes: []plan.Route{r}})
		}
		l.SetPlan(fmt.Sprint("ns", i), &p, start)
	}
	l.Lead(Leadership{Epoch: 1, First: true}, start)
	now := start.Add(time.Minute)
	// In one pool of ten more than usual may be outstanding.
	for i := range namespaces {
		for k := 0; k < policies; k += 10 {
			r := Route{fmt.Sprint("ns", i), fmt.Sprint(long, k), "openai"}
			l.Expect(r, "g", now)
			err := l.Report(r, &pool.Report{Holder: "g", Incarnation: 1, Sequence: 1, Wants: []pool.Want{
				{Lane: "default", Bulk: 1, Units: []pool.Amount{{Budget: "input", Units: 50_000}}},
			}}, now)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Advance(now)
	s := l.State(now)
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pools: %d KiB with %d unusual ones and %d usual ones", len(l.pools), len(data)>>10, len(s.Pools), len(s.Usual)/digestBytes)
	if len(data) > MaxStateBytes || len(s.Pools) == 0 || len(s.Usual) != maxUsual {
		t.Errorf("%d bytes, %d unusual pools, %d usual ones", len(data), len(s.Pools), len(s.Usual)/digestBytes)
	}
	l.Published(s)
	if !l.Stale() {
		t.Error("pools that had no room count as published")
	}
}

func TestDocumentsThatAreNotRead(t *testing.T) {
	w := newWorld(t, 1, lan)
	w.policy("a", "chat", "", 4, lanes(1000), tokens("own", 60_000, 60_000))
	s := w.next(Leadership{Epoch: 1, First: true}).State(w.clock())
	good, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseState(good); err != nil || !again.Same(&s) {
		t.Fatalf("it is not read as it was written: %v", err)
	}
	for length := range good {
		if _, err := ParseState(good[:length]); !errors.Is(err, ErrState) {
			t.Fatalf("the first %d of %d bytes are read: %v", length, len(good), err)
		}
	}
	for i := range good {
		for _, bit := range []byte{1, 4, 32} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			got, err := ParseState(bad)
			// Names may be written in either case, and nothing else may differ.
			if err == nil && !got.Same(&s) {
				t.Fatalf("byte %d of %s differs, and it is read", i, bad)
			}
		}
	}
	for name, data := range map[string]string{
		"nothing": "", "null": "null", "a list": "[]", "another version": `{"version":2}`, "too long": strings.Repeat(" ", MaxStateBytes+1),
		"infinite": strings.Replace(string(good), `"sequence":1`, `"sequence":1e400`, 1),
	} {
		if _, err := ParseState([]byte(data)); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"version":1,"epoch":1,"sequence":1,"sum":"00"}`))
	f.Add([]byte(`{"version":1,"pools":[{"digest":null,"budgets":[{"name":"a","debt":1e9,"outstanding":-4}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseState(data)
		if err != nil {
			return
		}
		out, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseState(out); err != nil || !again.Same(&s) {
			t.Fatalf("what was read is not read again: %v", err)
		}
	})
}
