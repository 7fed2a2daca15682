// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

const (
	// heartbeatLife is how long a gateway counts as alive after it said so last.
	heartbeatLife = 30 * time.Second
	// keptBeyond is how long a ticket stays whose gateway does not end its life.
	keptBeyond = time.Hour
	// scanned bounds the tickets looked at in one turn for one whose owner is gone.
	scanned = 1000
)

func (s *Store) ticketKey(id string) string { return s.prefix + "ticket:" + id }
func (s *Store) index() string              { return s.prefix + "index" }
func (s *Store) heartbeat(owner string) string {
	return s.prefix + "gateway:" + owner
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return s.client.Time(ctx).Result() }

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, t *ticket.Ticket, request []byte) error {
	return s.save(ctx, t, "1", string(store.Request), "put", request)
}

// Save implements store.Store.
func (s *Store) Save(ctx context.Context, t *ticket.Ticket, b store.Bodies) error {
	var parts []any
	parts = append(parts, part(store.Request, b.Request, b.DropRequest)...)
	parts = append(parts, part(store.Answer, b.Answer, b.DropAnswer)...)
	return s.save(ctx, t, "0", parts...)
}

func part(which store.Body, body []byte, drop bool) []any {
	switch {
	case drop:
		return []any{string(which), "drop", ""}
	case body != nil:
		return []any{string(which), "put", body}
	}
	return nil
}

func (s *Store) save(ctx context.Context, t *ticket.Ticket, isNew string, parts ...any) error {
	record, err := t.Encode()
	if err != nil {
		return err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	// A call that waits may yet be a dead letter for its age, and an answer one that has expired.
	life := t.Expires.Sub(now) + 2*t.MaxAge + keptBeyond
	args := append([]any{s.owner, isNew, t.ID, record, max(life, time.Minute).Milliseconds(), t.Created.UnixMilli()}, parts...)
	done, err := saveScript.Run(ctx, s.client, []string{s.ticketKey(t.ID), s.index()}, args...).Int()
	if err == nil && done == 0 {
		return store.ErrLost
	}
	return err
}

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, id string) (*ticket.Ticket, error) {
	record, err := s.client.HGet(ctx, s.ticketKey(id), fieldRecord).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, store.ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return ticket.Decode(record)
}

// Body implements store.Store.
func (s *Store) Body(ctx context.Context, id string, which store.Body) ([]byte, error) {
	body, err := s.client.HGet(ctx, s.ticketKey(id), string(which)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, store.ErrUnknown
	}
	return body, err
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	return deleteScript.Run(ctx, s.client, []string{s.ticketKey(id), s.index()}, id).Err()
}

// Load implements store.Store: a gateway that has just started owns nothing; Tend finds what it may take over.
func (s *Store) Load(context.Context, func(*ticket.Ticket)) (int, error) { return 0, nil }

// beat says that this gateway is alive.
func (s *Store) beat(ctx context.Context) error {
	return s.client.Set(ctx, s.heartbeat(s.owner), "1", heartbeatLife).Err()
}

// Tend implements store.Store.
func (s *Store) Tend(ctx context.Context, room int) ([]*ticket.Ticket, error) {
	if err := s.beat(ctx); err != nil {
		return nil, err
	}
	from := s.from.Load()
	ids, err := s.client.ZRange(ctx, s.index(), from, from+scanned-1).Result()
	if err != nil {
		return nil, err
	}
	// Turn by turn the whole index is looked at.
	s.from.Store(from + scanned)
	if len(ids) < scanned {
		s.from.Store(0)
	}
	gone := map[string]bool{s.owner: false}
	var out []*ticket.Ticket
	for _, id := range ids {
		if len(out) >= room {
			break
		}
		t, err := s.adopt(ctx, id, gone)
		if err != nil {
			return out, err
		}
		if t != nil {
			out = append(out, t)
		}
	}
	return out, nil
}

// adopt takes a ticket over if its owner is gone, which it notes in gone; nil if there is nothing to take.
func (s *Store) adopt(ctx context.Context, id string, gone map[string]bool) (*ticket.Ticket, error) {
	owner, err := s.client.HGet(ctx, s.ticketKey(id), fieldOwner).Result()
	if errors.Is(err, redis.Nil) {
		// It went by itself.
		return nil, s.client.ZRem(ctx, s.index(), id).Err()
	}
	if err != nil {
		return nil, err
	}
	if _, known := gone[owner]; !known {
		n, err := s.client.Exists(ctx, s.heartbeat(owner)).Result()
		if err != nil {
			return nil, err
		}
		gone[owner] = n == 0
	}
	if !gone[owner] {
		return nil, nil
	}
	took, err := adoptScript.Run(ctx, s.client, []string{s.ticketKey(id), s.heartbeat(owner)}, s.owner, owner).Int()
	if err != nil || took == 0 {
		return nil, err
	}
	t, err := s.Read(ctx, id)
	if errors.Is(err, ticket.ErrRecord) {
		return nil, s.Delete(ctx, id)
	}
	return t, err
}
