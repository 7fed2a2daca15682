// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// MaxReplayable is the largest body that is held whole; a larger one is sent once, as it comes.
	MaxReplayable = 32 << 20
	// chunk is what a body of unknown length is read into at first; it doubles.
	chunk = 4 << 10
	// least is the smallest buffer: a waiting or streaming call of a kilobyte holds little more.
	least = 2 << 10
	// loose is the largest body that is kept in memory of its own rather than of a pool. net/http sends such a body in one
	// packet with its head, but only where it knows the reader's type, and that has no Close to count.
	loose = least
	// smallBody does not wait for memory: it is refused or held at once.
	smallBody = 64 << 10
	// patience bounds the wait for memory of a large body.
	patience = 5 * time.Second
)

// pools hold buffers of least, twice that, and so on to 1 MiB: large buffers are dear to clear and collect.
var pools [10]sync.Pool

// class is the pool whose buffers hold n bytes; false if none does.
func class(n int) (int, bool) {
	for i := range pools {
		if n <= least<<i {
			return i, true
		}
	}
	return 0, false
}

// buffer returns an empty buffer that holds n bytes.
func buffer(n int) []byte {
	i, ok := class(n)
	if !ok {
		return make([]byte, 0, n)
	}
	if b, ok := pools[i].Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, least<<i)
}

// recycle gives back what buffer made.
func recycle(b []byte) {
	if i, ok := class(cap(b)); ok && cap(b) == least<<i {
		b = b[:0]
		pools[i].Put(&b)
	}
}

// Body is a request's body, or its first part.
type Body struct {
	// loose: Bytes belong to no pool, so that a reader may outlive the owner without being counted.
	loose bool

	// Bytes is the body, or its prefix where Rest is set.
	Bytes []byte
	// Rest is what follows Bytes in a body that is too large to hold.
	Rest io.Reader

	budget *Budget
	taken  int64
	// users counts the owner and every reader that is not closed: a transport may still read a body after
	// it has answered, so the last of them gives the memory back.
	users    atomic.Int32
	released atomic.Bool
}

// Replayable says that the body can be sent again.
func (b *Body) Replayable() bool { return b.Rest == nil }

// Reader returns the whole body, to be closed. Where it is not replayable it may be called once.
func (b *Body) Reader() io.ReadCloser {
	if b.loose {
		return io.NopCloser(bytes.NewReader(b.Bytes))
	}
	b.users.Add(1)
	r := &reader{body: b}
	r.Reset(b.Bytes)
	if b.Rest == nil {
		return r
	}
	return &joined{Reader: io.MultiReader(r, b.Rest), Closer: r}
}

// Spliced reads the body with text in place of its bytes from to to; only of a body that is replayable.
func (b *Body) Spliced(from, to int, text string) io.ReadCloser {
	if b.loose {
		whole := make([]byte, 0, len(b.Bytes)-(to-from)+len(text))
		whole = append(append(append(whole, b.Bytes[:from]...), text...), b.Bytes[to:]...)
		return io.NopCloser(bytes.NewReader(whole))
	}
	b.users.Add(1)
	return &joined{Reader: &spliced{before: b.Bytes[:from], text: text, behind: b.Bytes[to:]}, Closer: &reader{body: b}}
}

// spliced reads three parts, as many of them at once as there is room for: each read becomes a packet.
type spliced struct {
	before []byte
	text   string
	behind []byte
}

func (s *spliced) Read(p []byte) (int, error) {
	n := copy(p, s.before)
	s.before = s.before[n:]
	if len(s.before) == 0 {
		k := copy(p[n:], s.text)
		s.text, n = s.text[k:], n+k
	}
	if len(s.before)+len(s.text) == 0 {
		k := copy(p[n:], s.behind)
		s.behind, n = s.behind[k:], n+k
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

type reader struct {
	bytes.Reader
	body   *Body
	closed atomic.Bool
}

func (r *reader) Close() error {
	if !r.closed.Swap(true) {
		r.body.leave()
	}
	return nil
}

type joined struct {
	io.Reader
	io.Closer
}

// Release ends the owner's use; Bytes must not be used after it. It may be called more than once.
func (b *Body) Release() {
	if !b.released.Swap(true) {
		b.leave()
	}
}

func (b *Body) leave() {
	if b.users.Add(-1) > 0 {
		return
	}
	if !b.loose {
		recycle(b.Bytes)
	}
	b.Bytes = nil
	b.budget.give(b.taken)
}

// Read reads a body of length bytes, -1 if unknown.
func Read(ctx context.Context, budget *Budget, src io.Reader, length int64) (*Body, error) {
	b := &Body{budget: budget}
	b.users.Store(1)
	var err error
	switch {
	case length == 0:
		return b, nil
	case length > MaxReplayable:
		err = b.readPrefix(src)
	case length > 0:
		err = b.readKnown(ctx, src, int(length))
	default:
		err = b.readUnknown(ctx, src)
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// readPrefix holds only what metering may need of a body that is streamed through.
func (b *Body) readPrefix(src io.Reader) error {
	if !b.budget.tryTake(smallBody) {
		return ErrOverBudget
	}
	b.taken = smallBody
	b.Bytes = make([]byte, smallBody)
	n, err := io.ReadFull(src, b.Bytes)
	b.Bytes = b.Bytes[:n]
	b.Rest = src
	return readError(err)
}

func (b *Body) readKnown(ctx context.Context, src io.Reader, length int) error {
	// The buffer may be up to twice as large as the body, and is paid for whole.
	size := length
	if i, ok := class(length); ok {
		size = least << i
	}
	if err := b.reserve(ctx, int64(size)); err != nil {
		return err
	}
	if b.loose = length <= loose; b.loose {
		b.Bytes = make([]byte, length)
	} else {
		b.Bytes = buffer(length)[:length]
	}
	_, err := io.ReadFull(src, b.Bytes)
	return readError(err)
}

// readUnknown doubles its buffer up to MaxReplayable, taking memory before each step.
func (b *Body) readUnknown(ctx context.Context, src io.Reader) error {
	if err := b.reserve(ctx, chunk); err != nil {
		return err
	}
	b.Bytes = buffer(chunk)
	for {
		n, err := src.Read(b.Bytes[len(b.Bytes):cap(b.Bytes)])
		b.Bytes = b.Bytes[:len(b.Bytes)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return readError(err)
		}
		if len(b.Bytes) < cap(b.Bytes) {
			continue
		}
		if len(b.Bytes) >= MaxReplayable {
			b.Rest = src
			return nil
		}
		if err := b.grow(ctx); err != nil {
			return err
		}
	}
}

// grow doubles the buffer; both halves exist for a moment, and both are paid for.
func (b *Body) grow(ctx context.Context) error {
	size := min(2*cap(b.Bytes), MaxReplayable)
	if err := b.reserve(ctx, int64(size)); err != nil {
		return err
	}
	old := int64(cap(b.Bytes))
	next := append(buffer(size), b.Bytes...)
	recycle(b.Bytes)
	b.Bytes = next
	b.taken -= old
	b.budget.give(old)
	return nil
}

func (b *Body) reserve(ctx context.Context, n int64) error {
	if n <= smallBody {
		if !b.budget.tryTake(n) {
			return ErrOverBudget
		}
		b.taken += n
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := b.budget.take(ctx, n); err != nil {
		return err
	}
	b.taken += n
	return nil
}

// ErrClient marks a body that its sender did not finish.
var ErrClient = errors.New("the request's body ended early")

func readError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrClient, err)
}
