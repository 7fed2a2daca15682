// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

// Ticket is a ticket that waits, with the request body.
func Ticket(now time.Time, body []byte) *ticket.Ticket {
	now = now.UTC().Truncate(time.Millisecond)
	return &ticket.Ticket{
		ID: ticket.NewID(), Policy: "support", Route: "anthropic", Lane: "default", Path: "/v1/messages",
		State: ticket.Waiting, Created: now, NotBefore: now, Expires: now.Add(time.Hour), MaxAge: time.Hour,
		Request: ticket.Describe(body),
	}
}

// Run runs the tests on a store that is empty.
func Run(t *testing.T, s store.Store) {
	t.Helper()
	t.Run("ALifeOfATicket", func(t *testing.T) { life(t, s) })
	t.Run("WhatIsNotThere", func(t *testing.T) { absent(t, s) })
	t.Run("EmptyBodies", func(t *testing.T) { empty(t, s) })
	t.Run("ManyAtOnce", func(t *testing.T) { many(t, s) })
	t.Run("TimeGoesOn", func(t *testing.T) { timeGoesOn(t, s) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func life(t *testing.T, s store.Store) {
	t.Helper()
	ctx, request, answer := t.Context(), []byte("c4n4ryPrompt request \x00\xff"), []byte("c4n4ryPrompt answer \x00\xff")
	k := Ticket(time.Now(), request)
	must(t, s.Create(ctx, k, request))
	expect(t, s, k, store.Request, request)
	k.Attempts = 1
	must(t, s.Save(ctx, k, store.Bodies{}))
	expect(t, s, k, store.Request, request)
	k.State, k.Status, k.Answer = ticket.Done, 200, ticket.Describe(answer)
	must(t, s.Save(ctx, k, store.Bodies{Answer: answer, DropRequest: true}))
	expect(t, s, k, store.Answer, answer)
	if _, err := s.Body(ctx, k.ID, store.Request); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a request that was dropped: %v", err)
	}
	must(t, s.Delete(ctx, k.ID))
	for _, which := range []store.Body{store.Request, store.Answer} {
		if _, err := s.Body(ctx, k.ID, which); !errors.Is(err, store.ErrUnknown) {
			t.Errorf("the %s of a ticket that was deleted: %v", which, err)
		}
	}
	if err := s.Save(ctx, k, store.Bodies{}); !errors.Is(err, store.ErrLost) {
		t.Errorf("saving a ticket that was deleted: %v", err)
	}
}

func expect(t *testing.T, s store.Store, want *ticket.Ticket, which store.Body, body []byte) {
	t.Helper()
	got, err := s.Read(t.Context(), want.ID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b, err := s.Body(t.Context(), want.ID, which)
	must(t, err)
	if !bytes.Equal(b, body) {
		t.Errorf("%s is %q, want %q", which, b, body)
	}
}

func absent(t *testing.T, s store.Store) {
	t.Helper()
	ctx, id := t.Context(), ticket.NewID()
	if _, err := s.Read(ctx, id); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("read: %v", err)
	}
	if _, err := s.Body(ctx, id, store.Answer); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("body: %v", err)
	}
	must(t, s.Delete(ctx, id))
}

func empty(t *testing.T, s store.Store) {
	t.Helper()
	ctx := t.Context()
	k := Ticket(time.Now(), nil)
	must(t, s.Create(ctx, k, nil))
	k.State, k.Status, k.Answer = ticket.Done, 204, ticket.Describe(nil)
	must(t, s.Save(ctx, k, store.Bodies{Answer: []byte{}}))
	if b, err := s.Body(ctx, k.ID, store.Answer); err != nil || len(b) != 0 {
		t.Errorf("an empty answer: %q, %v", b, err)
	}
	must(t, s.Delete(ctx, k.ID))
}

func many(t *testing.T, s store.Store) {
	t.Helper()
	var group sync.WaitGroup
	tickets := make([]*ticket.Ticket, 200)
	for i := range tickets {
		body := fmt.Appendf(nil, "body %d", i)
		tickets[i] = Ticket(time.Now(), body)
		group.Go(func() {
			if err := s.Create(t.Context(), tickets[i], body); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i, k := range tickets {
		expect(t, s, k, store.Request, fmt.Appendf(nil, "body %d", i))
		must(t, s.Delete(t.Context(), k.ID))
	}
}

func timeGoesOn(t *testing.T, s store.Store) {
	t.Helper()
	last, err := s.Now(t.Context())
	must(t, err)
	for range 100 {
		now, err := s.Now(t.Context())
		must(t, err)
		if now.Before(last) {
			t.Fatalf("%s is before %s", now, last)
		}
		last = now
	}
}
