// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package boltstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

// maxTogether bounds the writes of one transaction.
const maxTogether = 64

// Store is a store in a file.
type Store struct {
	db     *bbolt.DB
	dir    string
	lock   *os.File
	clock  clock
	broken atomic.Bool

	writes chan *write
	ended  chan struct{}
	// mu keeps Close from closing writes under a writer's hands.
	mu     sync.RWMutex
	closed bool
}

var _ store.Store = (*Store)(nil)

// write is a change that waits for the writer.
type write struct {
	change func(*bbolt.Tx) error
	done   chan error
}

func newStore(db *bbolt.DB, dir string) *Store {
	s := &Store{db: db, dir: dir, writes: make(chan *write), ended: make(chan struct{})}
	go s.run()
	return s
}

// update makes a change and returns when it is on the disk. It cannot be called off: a body that is being written
// belongs to the caller again only then.
func (s *Store) update(change func(*bbolt.Tx) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed || s.broken.Load() {
		return store.ErrBroken
	}
	w := &write{change: change, done: make(chan error, 1)}
	s.writes <- w
	return <-w.done
}

// run writes: as long as one transaction is on its way to the disk, the next one gathers.
func (s *Store) run() {
	defer close(s.ended)
	for w := range s.writes {
		batch := []*write{w}
	gather:
		for len(batch) < maxTogether {
			select {
			case more, ok := <-s.writes:
				if !ok {
					break gather
				}
				batch = append(batch, more)
			default:
				break gather
			}
		}
		s.commit(batch)
	}
}

// commit writes a batch. Where one change fails, each is made alone, so that it fails alone.
func (s *Store) commit(batch []*write) {
	err := s.transact(batch)
	if err == nil || len(batch) == 1 || s.broken.Load() {
		for _, w := range batch {
			w.done <- err
		}
		return
	}
	for _, w := range batch {
		w.done <- s.transact([]*write{w})
	}
}

func (s *Store) transact(batch []*write) error {
	if s.broken.Load() {
		return store.ErrBroken
	}
	err := guard(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			for _, w := range batch {
				if err := w.change(tx); err != nil {
					return err
				}
			}
			return s.clock.keep(tx)
		})
	})
	return s.judge(err)
}

// view reads.
func (s *Store) view(look func(*bbolt.Tx) error) error {
	if s.broken.Load() {
		return store.ErrBroken
	}
	return s.judge(guard(func() error { return s.db.View(look) }))
}

// judge takes the store out of use where it turned out to be damaged: locks of bbolt may be held for ever then. The
// mark has the next run start with a new file.
func (s *Store) judge(err error) error {
	if err == nil || !errors.Is(err, errDamaged) {
		return err
	}
	if !s.broken.Swap(true) {
		_ = os.WriteFile(filepath.Join(s.dir, brokenMark), []byte(err.Error()+"\n"), 0o600)
	}
	return errors.Join(store.ErrBroken, err)
}

// Create implements store.Store.
func (s *Store) Create(_ context.Context, t *ticket.Ticket, request []byte) error {
	record, err := t.Encode()
	if err != nil {
		return err
	}
	return s.update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(bucketRequest).Put([]byte(t.ID), request); err != nil {
			return err
		}
		return tx.Bucket(bucketTickets).Put([]byte(t.ID), record)
	})
}

// Save implements store.Store.
func (s *Store) Save(_ context.Context, t *ticket.Ticket, b store.Bodies) error {
	record, err := t.Encode()
	if err != nil {
		return err
	}
	id := []byte(t.ID)
	return s.update(func(tx *bbolt.Tx) error {
		if tx.Bucket(bucketTickets).Get(id) == nil {
			return store.ErrLost
		}
		return errors.Join(
			change(tx.Bucket(bucketRequest), id, b.Request, b.DropRequest),
			change(tx.Bucket(bucketAnswer), id, b.Answer, b.DropAnswer),
			tx.Bucket(bucketTickets).Put(id, record),
		)
	})
}

func change(b *bbolt.Bucket, id, body []byte, drop bool) error {
	switch {
	case drop:
		return b.Delete(id)
	case body != nil:
		return b.Put(id, body)
	}
	return nil
}

// Delete implements store.Store.
func (s *Store) Delete(_ context.Context, id string) error {
	return s.update(func(tx *bbolt.Tx) error { return remove(tx, []byte(id)) })
}

func remove(tx *bbolt.Tx, id []byte) error {
	return errors.Join(tx.Bucket(bucketTickets).Delete(id), tx.Bucket(bucketRequest).Delete(id), tx.Bucket(bucketAnswer).Delete(id))
}

// Read implements store.Store.
func (s *Store) Read(_ context.Context, id string) (t *ticket.Ticket, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		record := tx.Bucket(bucketTickets).Get([]byte(id))
		if record == nil {
			return store.ErrUnknown
		}
		t, err = ticket.Decode(record)
		return err
	})
	return t, err
}

// Body implements store.Store.
func (s *Store) Body(_ context.Context, id string, which store.Body) (body []byte, err error) {
	bucket := bucketRequest
	if which == store.Answer {
		bucket = bucketAnswer
	}
	err = s.view(func(tx *bbolt.Tx) error {
		value := tx.Bucket(bucket).Get([]byte(id))
		if value == nil {
			return store.ErrUnknown
		}
		body = bytes.Clone(value)
		return nil
	})
	return body, err
}

// Load implements store.Store. Bodies without a ticket, which only damage leaves behind, go too.
func (s *Store) Load(_ context.Context, f func(*ticket.Ticket)) (damaged int, err error) {
	bad := map[string]bool{}
	err = s.view(func(tx *bbolt.Tx) error {
		tickets := tx.Bucket(bucketTickets)
		for _, bucket := range []*bbolt.Bucket{tx.Bucket(bucketRequest), tx.Bucket(bucketAnswer)} {
			_ = bucket.ForEach(func(id, _ []byte) error {
				if tickets.Get(id) == nil {
					bad[string(id)] = true
				}
				return nil
			})
		}
		return tickets.ForEach(func(id, record []byte) error {
			if t, err := ticket.Decode(record); err == nil && t.ID == string(id) {
				f(t)
			} else {
				damaged++
				bad[string(id)] = true
			}
			return nil
		})
	})
	if err != nil || len(bad) == 0 {
		return damaged, err
	}
	return damaged, s.update(func(tx *bbolt.Tx) error {
		for id := range bad {
			if err := remove(tx, []byte(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Tend implements store.Store: it keeps the time. Nobody else uses the file.
func (s *Store) Tend(context.Context, int) ([]*ticket.Ticket, error) {
	if !s.clock.due() {
		return nil, nil
	}
	return nil, s.update(func(*bbolt.Tx) error { return nil })
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if was {
		return nil
	}
	close(s.writes)
	<-s.ended
	var err error
	if !s.broken.Load() { // else locks of bbolt may be held for ever
		err = guard(s.db.Close)
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}
