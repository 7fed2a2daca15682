// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// TestD8EveryHandshakeVerifies simulates two replicas that act whenever they get to it, with the
// leadership changing hands, through several rotations. The API server trusts what is published; a
// gateway what was published up to half a day, half the overlap, ago.
func TestD8EveryHandshakeVerifies(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { simulateRotations(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func simulateRotations(t *testing.T, random *rand.Rand) {
	t.Helper()
	c, at := newClient(), &clock{start}
	o := testOptions(at)
	o.CALifetime, o.LeafLifetime = 12*24*time.Hour, 2*24*time.Hour
	replicas := []*Source{New(c, o), New(c, o)}
	mustStep(t, replicas[0].Issuer(), replicas[0], replicas[1])
	authorities := map[string]bool{}
	lagging := &history{{at.now, replicas[0].Bundle()}}
	for at.now.Before(start.AddDate(0, 0, 40)) {
		at.now = at.now.Add(time.Duration(1+random.IntN(11)) * time.Hour)
		if who := random.IntN(3); who < len(replicas) {
			mustStep(t, replicas[who].Issuer())
		}
		for _, r := range replicas {
			// A replica that is not stopped acts well before its leaf ends.
			if random.IntN(4) > 0 || at.now.After(certificate(t, r).Leaf.NotAfter.Add(-12*time.Hour)) {
				mustStep(t, r)
			}
			leaf := certificate(t, r)
			authorities[leaf.Leaf.Issuer.CommonName] = true
			if err := errors.Join(verify(leaf, trusted(t, c), at.now), verify(leaf, lagging.at(at.now.Add(-12*time.Hour)), at.now)); err != nil {
				t.Fatalf("%s: %v", at.now, err)
			}
		}
		if n := bytes.Count(replicas[0].Bundle(), []byte("BEGIN")); n > 3 {
			t.Fatalf("the bundle has %d certificates", n)
		}
		*lagging = append(*lagging, bundleAt{at.now, trusted(t, c)})
	}
	if len(authorities) < 4 {
		t.Fatalf("only %d authorities in 40 days", len(authorities))
	}
}

// history is what was published, and when.
type (
	history  []bundleAt
	bundleAt struct {
		since  time.Time
		bundle []byte
	}
)

// at is what somebody trusts who last looked then.
func (h history) at(then time.Time) []byte {
	bundle := h[0].bundle
	for _, b := range h {
		if !b.since.After(then) {
			bundle = b.bundle
		}
	}
	return bundle
}

// TestNextSignsOnlyOncePublished holds back an authority that some caller does not know, however old.
func TestNextSignsOnlyOncePublished(t *testing.T) {
	o := testOptions(&clock{start}).withDefaults()
	never, always := func(*authority) bool { return false }, func(*authority) bool { return true }
	step := func(r rotation, now time.Time, published func(*authority) bool) rotation {
		t.Helper()
		r, _, err := r.advance(now, o, published)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := step(rotation{}, start, never)
	due := start.Add(244 * 24 * time.Hour)
	prepared := step(first, due, never)
	if prepared.next == nil || !prepared.current.equal(first.current) {
		t.Fatal("nothing was prepared after two thirds of the authority's life")
	}
	tests := map[string]struct {
		after     time.Duration
		published func(*authority) bool
		want      bool
	}{
		"too young":     {o.Overlap - time.Second, always, false},
		"not published": {10 * o.Overlap, never, false},
		"both":          {o.Overlap, always, true},
	}
	for name, tc := range tests {
		r := step(prepared, due.Add(tc.after), tc.published)
		if got := r.current.equal(prepared.next); got != tc.want {
			t.Errorf("%s: promoted %t, want %t", name, got, tc.want)
		}
	}
}
