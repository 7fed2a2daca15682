// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"time"
)

// rotation is what the Secret holds.
type rotation struct {
	// current signs.
	current *authority
	// next is published and signs nothing yet.
	next *authority
	// previous signed what may still be in use; its key is gone.
	previous *authority
}

// bundle is what callers must trust, in the order in which the certificates came to be.
func (r rotation) bundle() []byte {
	var b bytes.Buffer
	for _, a := range []*authority{r.previous, r.current, r.next} {
		if a != nil {
			b.Write(a.certPEM())
		}
	}
	return b.Bytes()
}

// advance moves the rotation on by what is due at now, and says whether anything was.
//
//	issue:   no usable current            -> current = new; an unexpired old one becomes previous
//	prepare: 2/3 of current's life passed -> next = new
//	promote: next published everywhere and older than overlap -> previous = current, current = next
//	retire:  previous expired             -> dropped
//
// published says whether every caller's bundle contains a certificate.
func (r rotation) advance(now time.Time, o Options, published func(*authority) bool) (rotation, bool, error) {
	out := r
	if out.previous != nil && !out.previous.usable(now) {
		out.previous = nil
	}
	if out.next != nil && !out.next.usable(now) {
		out.next = nil
	}
	if !out.current.usable(now) || out.current.key == nil {
		return out.issue(now, o)
	}
	switch {
	case out.next == nil && !now.Before(o.rotateAt(out.current)):
		next, err := newAuthority(now, o.CALifetime)
		if err != nil {
			return r, false, err
		}
		out.next = next
	case out.next != nil && !now.Before(out.next.issuedAt().Add(o.Overlap)) && published(out.next):
		out.previous = &authority{cert: out.current.cert}
		out.current, out.next = out.next, nil
	}
	return out, out != r, nil
}

// issue replaces an authority that cannot sign. What it signed is verified for as long as it lasts.
func (r rotation) issue(now time.Time, o Options) (rotation, bool, error) {
	if r.next.usable(now) && r.next.key != nil {
		r.current, r.next = r.next, nil
		return r, true, nil
	}
	current, err := newAuthority(now, o.CALifetime)
	if err != nil {
		return r, false, err
	}
	if r.current.usable(now) {
		r.previous = &authority{cert: r.current.cert}
	}
	r.current = current
	return r, true, nil
}

// rotateAt leaves a third of the life for the overlap and for whatever may go wrong.
func (o Options) rotateAt(a *authority) time.Time {
	return a.issuedAt().Add(a.cert.NotAfter.Sub(a.issuedAt()) * 2 / 3)
}
