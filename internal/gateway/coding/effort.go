// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"errors"
	"io"
)

var (
	// ErrBomb says that a body takes work and yields next to nothing, which no coding does that is meant to be read.
	ErrBomb = errors.New("the body takes more work than it is worth")
	// ErrLarge says that a body is longer than is read of one: MaxCoded.
	ErrLarge = errors.New("the body is longer than is read in a content coding")
	// errQuick says that a body is no quick one.
	errQuick = errors.New("the body takes more than a short time")
)

const (
	// MaxCoded is how much is read of a body, and of what lies between its codings, in sum: what a byte costs before it is
	// undone has no other bound, since a few may state tables or be a whole document that is empty.
	MaxCoded = 4 << 20
	// maxIdle is how much a coding may take in before it yields half of what it takes: more than a block of zstd, which is 128 KiB.
	maxIdle = 160 << 10
	// step is how much work is done between two looks at who waits for it.
	step = 32 << 10
)

// effort bounds the work of reading one body, whatever is nested in it.
type effort struct {
	// alive says why nobody waits for the body any more.
	alive func() error
	// most is how much its codings may take in, and above is what is said of more.
	most  int64
	above error

	taken int64
	err   error
}

func (e *effort) spent(l *layer) error {
	switch {
	case e.err != nil:
	case e.taken > e.most:
		e.err = e.above
	case l.taken > maxIdle+2*l.yielded:
		e.err = ErrBomb
	default:
		e.err = e.alive()
	}
	return e.err
}

// errorOr is why the effort ended, if it did: a decoder below may have taken that for an end of its own.
func (e *effort) errorOr(err error) error {
	if e.err != nil {
		return e.err
	}
	return err
}

// layer is what one coding takes in.
type layer struct {
	below  io.Reader
	effort *effort

	taken, yielded int64
}

// Read implements io.Reader.
func (l *layer) Read(p []byte) (int, error) {
	if err := l.effort.spent(l); err != nil {
		return 0, err
	}
	n, err := l.below.Read(p[:min(len(p), step)])
	l.taken += int64(n)
	l.effort.taken += int64(n)
	return n, err
}

// output is what it yields.
type output struct {
	*layer

	decoder io.Reader
}

// Read implements io.Reader.
func (o *output) Read(p []byte) (int, error) {
	if err := o.effort.spent(o.layer); err != nil {
		return 0, err
	}
	n, err := o.decoder.Read(p[:min(len(p), step)])
	o.yielded += int64(n)
	if err != nil && err != io.EOF { //nolint:errorlint // as it is, it is the end
		// A decoder above may take it for the end of what it reads.
		o.effort.err = o.effort.errorOr(err)
	}
	if err != nil {
		err = o.effort.errorOr(err)
	}
	return n, err
}
