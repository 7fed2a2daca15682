// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"context"
	"io"
	"slices"
)

// A body of bytes may ask for megabytes, and they come in crowds: one at a time is read that takes long, and beside it one
// that does not, so that nobody who sends what is usual waits for who does not.
var long, quick = make(place, 1), make(place, 1)

const (
	// quickCoded and quickPlain are what a quick body may take in, over all of its codings, and yield.
	quickCoded = 256 << 10
	quickPlain = 1 << 20
)

// place is held by one at a time.
type place chan struct{}

// take waits for the place for as long as somebody waits for the body.
func (p place) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p place) leave() { <-p }

// Read has use read a body without the codings that Names names, for as long as the context lasts. With keeps, use holds
// what it reads: it is alone with that. An error says that use was not called.
func Read(ctx context.Context, names []string, body []byte, keeps bool, use func(io.Reader)) error {
	if !Readable(names) {
		return errUnknown
	}
	if !keeps && !slices.ContainsFunc(names, windowed) {
		return read(ctx, names, body, use)
	}
	if len(body) <= quickCoded {
		if again, err := readQuickly(ctx, names, body, use); !again {
			return err
		}
	}
	if err := long.take(ctx); err != nil {
		return err
	}
	defer long.leave()
	return read(ctx, names, body, use)
}

func read(ctx context.Context, names []string, body []byte, use func(io.Reader)) error {
	e := &effort{alive: ctx.Err, most: MaxCoded, above: ErrLarge}
	if len(names) > 1 {
		e.above = ErrBomb // of what lies between, nobody knows how much there is
	}
	r, err := open(names, body, e)
	if err != nil {
		return err
	}
	defer r.close()
	use(r)
	return nil
}

// readQuickly reads a body whole before it is used; again says that it is too much for that.
func readQuickly(ctx context.Context, names []string, body []byte, use func(io.Reader)) (again bool, err error) {
	if err = quick.take(ctx); err != nil {
		return false, err
	}
	defer quick.leave()
	e := &effort{alive: ctx.Err, most: quickCoded, above: errQuick}
	r, err := open(names, body, e)
	if err != nil {
		return e.unquick(), err
	}
	defer r.close()
	plain, err := io.ReadAll(io.LimitReader(r, quickPlain))
	if e.unquick() || len(plain) == quickPlain {
		return true, nil
	}
	use(io.MultiReader(bytes.NewReader(plain), ended{err}))
	return false, nil
}

// unquick says that a body was given up that may do with more.
func (e *effort) unquick() bool { return e.err == errQuick || e.err == ErrBomb } //nolint:errorlint // they are its own

// ended is the end of a body that was read.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error) {
	if e.err == nil {
		return 0, io.EOF
	}
	return 0, e.err
}

// Start is the beginning of a short body without its codings, up to most bytes, and of as much as is quick. It waits for
// nobody's long one.
func Start(names []string, body []byte, most int64) ([]byte, error) {
	if slices.ContainsFunc(names, windowed) {
		quick <- struct{}{}
		defer quick.leave()
	}
	e := &effort{alive: func() error { return nil }, most: quickCoded, above: errQuick}
	r, err := open(names, body, e)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return io.ReadAll(io.LimitReader(r, min(most, quickPlain)))
}
