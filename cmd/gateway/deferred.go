// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/boltstore"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/callback"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/console"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/redisstore"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
)

// openAgain is how long after a failure the store of deferred calls is tried again.
const openAgain = 5 * time.Second

// errNoStore says that no store was asked for.
var errNoStore = errors.New("--state or --deferred-store is required")

// putter keeps the calls that policies defer, from when its store is open.
type putter struct {
	options   *options
	log       *slog.Logger
	slot      deferred.Slot
	callbacks *callback.Client
	// ca is what is trusted beside the system's certificates.
	ca atomic.Pointer[[]byte]
	// first is a queue that was open before the gateway served.
	first *opened
}

type opened struct {
	queue *deferred.Queue
	store store.Store
}

// newPutter opens a store in the state directory, which takes no time; nil where there is no store at all.
func newPutter(ctx context.Context, o *options, ca []byte, log *slog.Logger) (*putter, error) {
	if o.state == "" && o.deferredStore == "" {
		return nil, nil
	}
	c, err := callback.New(callback.Options{ExtraCA: ca})
	if err != nil {
		return nil, err
	}
	p := &putter{options: o, log: log, callbacks: c}
	p.ca.Store(&ca)
	if o.deferredStore == "" {
		p.first = p.open(ctx)
	}
	return p, nil
}

// trust takes over the certificates that providers are trusted by: the platform names them, and callbacks and stores
// are its own or its tenants' as providers' stand-ins are.
func (p *putter) trust(ca []byte) error {
	if p == nil {
		return nil
	}
	p.ca.Store(&ca)
	return p.callbacks.Trust(ca)
}

// deferrals is the putter for the proxy; a nil one is none.
func (p *putter) deferrals() proxy.Deferrals {
	if p == nil {
		return nil
	}
	return &p.slot
}

// open opens the store; nil where it fails.
func (p *putter) open(ctx context.Context) *opened {
	out, err := p.tryOpen(ctx)
	if err != nil {
		p.log.Error("calls are declined that would be deferred", slog.String("error", err.Error()))
		return nil
	}
	p.slot.Set(out.queue)
	return out
}

func (p *putter) tryOpen(ctx context.Context) (*opened, error) {
	s, shared, err := openStore(ctx, p.options, *p.ca.Load(), p.log)
	if err != nil {
		return nil, err
	}
	q, err := deferred.New(ctx, deferred.Options{Store: s, Shared: shared, Callbacks: p.callbacks, Log: p.log})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &opened{q, s}, nil
}

// openStore opens the store that the options name.
func openStore(ctx context.Context, o *options, ca []byte, log *slog.Logger) (s store.Store, shared bool, err error) {
	if o.deferredStore != "" {
		r, err := redisstore.Open(ctx, redisstore.Options{
			URL: o.deferredStore, PasswordFile: o.deferredPassword, Namespace: o.namespace, ExtraCA: ca,
		})
		if err != nil {
			return nil, true, err
		}
		return r, true, nil
	}
	if o.state == "" {
		return nil, false, errNoStore
	}
	b, aside, err := boltstore.Open(o.state)
	if aside != "" {
		log.Error("the store of deferred calls was damaged: it was put aside, and its calls are lost", slog.String("file", aside))
	}
	if err != nil {
		return nil, false, err
	}
	return b, false, nil
}

// run opens the store where that has yet to be done, and makes calls until background ends. When draining ends, no more
// are begun. The channel is closed at the end.
func (p *putter) run(background, draining context.Context, g *proxy.Gateway) <-chan struct{} {
	done := make(chan struct{})
	if p == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		out := p.first
		for out == nil {
			if out = p.open(background); out == nil && !pause(background, openAgain) {
				return
			}
		}
		p.serve(background, draining, g, out)
	}()
	return done
}

func (p *putter) serve(background, draining context.Context, g *proxy.Gateway, o *opened) {
	defer context.AfterFunc(draining, o.queue.Drain)()
	if p.options.state != "" {
		go console.Serve(background, p.options.state, o.queue, p.log)
	}
	o.queue.Run(background, g)
	p.callbacks.Close()
	if err := o.store.Close(); err != nil {
		p.log.Error("the store of deferred calls did not close", slog.String("error", err.Error()))
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
