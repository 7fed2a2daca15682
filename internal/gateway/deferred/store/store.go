// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

// The ways a store fails that its users tell apart.
var (
	// ErrUnknown says that there is no such ticket or body.
	ErrUnknown = errors.New("no such deferred call")
	// ErrLost says that a ticket was removed, or taken over by another gateway.
	ErrLost = errors.New("the deferred call is no longer this gateway's")
	// ErrBroken says that the store is damaged and takes nothing more until the gateway is started again.
	ErrBroken = errors.New("the store of deferred calls is damaged")
)

// Body names what is kept beside a ticket.
type Body string

// The bodies.
const (
	Request Body = "request"
	Answer  Body = "answer"
)

// Bodies are the bodies to save with a ticket. One that is nil stays as it is.
type Bodies struct {
	Request, Answer []byte
	// DropRequest and DropAnswer remove what is there.
	DropRequest, DropAnswer bool
}

// Store keeps tickets. It is safe for concurrent use.
type Store interface {
	// Now is the store's time. Tickets live by it rather than by the clock of the machine, which may be set.
	Now(ctx context.Context) (time.Time, error)
	// Load passes every ticket of this gateway's to f. It returns how many could not be read; those are removed.
	Load(ctx context.Context, f func(*ticket.Ticket)) (damaged int, err error)
	// Create keeps a new ticket, and Save changes one.
	Create(ctx context.Context, t *ticket.Ticket, request []byte) error
	Save(ctx context.Context, t *ticket.Ticket, b Bodies) error
	// Read returns a ticket, also another gateway's where gateways share the store.
	Read(ctx context.Context, id string) (*ticket.Ticket, error)
	// Body returns a ticket's request or answer.
	Body(ctx context.Context, id string, which Body) ([]byte, error)
	// Delete removes a ticket with all that belongs to it, whoever's it is.
	Delete(ctx context.Context, id string) error
	// Tend is called every few seconds: it keeps the store's time and claims alive, and takes over up to room
	// tickets of gateways that are gone.
	Tend(ctx context.Context, room int) ([]*ticket.Ticket, error)
	Close() error
}
