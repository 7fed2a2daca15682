// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// longestGap is how much is counted for the time between two runs: a container is started again within minutes,
	// and a machine's clock that was wrong, or is now, must not end the life of every call at once.
	longestGap = time.Hour
	// keepEvery is how often the time is kept where nothing else is written.
	keepEvery = time.Minute
)

// clock is the store's time: the time of the last run, and what has passed since by the monotonic clock.
type clock struct {
	mu     sync.Mutex
	base   time.Time // of the store
	start  time.Time // of the machine, with its monotonic reading
	keptAt time.Time
}

// startClock continues the time of the last run.
func (s *Store) startClock() error {
	wall := time.Now()
	var last time.Time
	err := s.view(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(bucketMeta).Get(keyLastSeen); len(v) == 8 {
			last = time.UnixMilli(int64(binary.BigEndian.Uint64(v)))
		}
		return nil
	})
	s.clock.base, s.clock.start = continued(last, wall), wall
	return err
}

// continued is the time at the start of a run whose last one saw last.
func continued(last, wall time.Time) time.Time {
	if last.IsZero() {
		return wall.Round(0)
	}
	return last.Add(min(max(wall.Sub(last), 0), longestGap))
}

func (c *clock) now() time.Time { return c.base.Add(time.Since(c.start)) }

// keep writes the time down, with whatever else is written.
func (c *clock) keep(tx *bbolt.Tx) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.keptAt = now
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(now.UnixMilli()))
	return tx.Bucket(bucketMeta).Put(keyLastSeen, b[:])
}

func (c *clock) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Sub(c.keptAt) >= keepEvery
}

// Now implements store.Store.
func (s *Store) Now(context.Context) (time.Time, error) { return s.clock.now(), nil }
