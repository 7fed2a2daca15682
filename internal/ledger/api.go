// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// Route is one provider of a policy.
type Route struct{ Namespace, Policy, Provider string }

// Account is what a provider sold, to be shared by the namespaces whose policies refer to it.
type Account struct {
	Name string
	// Limits are the account's, their names without the account's. Plans name them ACCOUNT:LIMIT.
	Limits []plan.Limit
	// MaxGateways bounds the safe share, over all namespaces.
	MaxGateways int32
	// Tenants are those with a part of their own. Other namespaces that refer to the account only borrow.
	Tenants []Tenant
	// Outage is what gateways do that hear nothing, as in plan.Route.
	Outage string
}

// Tenant is what a namespace has of an account.
type Tenant struct {
	Namespace string
	// GuaranteedPercent of each limit is the tenant's own.
	GuaranteedPercent int32
	// LendablePercent of that others may use while the tenant does not; nil is all of it.
	LendablePercent *int32
	// BorrowingLimitPercent of each limit is the most that the tenant may use beside its own; nil is no bound.
	BorrowingLimitPercent *int32
	// Weight divides what is unclaimed; 0 means 1.
	Weight int32
}

// Options are what all pools have in common.
type Options struct {
	// Interval is how often gateways report, TTL how long they may spend after a report that was answered, Drain how long
	// calls in flight may last. 0 is the pools' own choice.
	Interval, TTL, Drain time.Duration
	// External has the pools draw on a store instead of refilling by themselves.
	External bool
	// Origin names the installation. A document of another one counts as none.
	Origin string
}

// Leadership is with what a leader begins.
type Leadership struct {
	// Epoch is larger than every earlier leader's. It may be milliseconds since 1970, and not nanoseconds.
	Epoch uint64
	// Before is the epoch of the leader before, 0 if that is not known. A document of an earlier one counts as none.
	Before uint64
	// First says that there was no leader before, so that nothing can be outstanding.
	First bool
	// Last is what the leader before published; zero if there is nothing, or it cannot be read.
	Last State
}

// Key names a pool: an account's, or that of a route without account.
type Key struct {
	Account string
	Route   Route
}

// Recipient is a gateway's incarnation that is to be told something about a route.
type Recipient struct {
	Route       Route
	Holder      string
	Incarnation uint64
}

// Bounds of what is kept.
const (
	// MaxNamespaces have a plan.
	MaxNamespaces = 10_000
	// MaxRoutes are those of all namespaces together.
	MaxRoutes = 50_000
	// MaxAccounts are ProviderAccounts.
	MaxAccounts = 1000
	// MaxTenants are an account's with a part of their own.
	MaxTenants = 256
	// MaxHolder is how long the name of a holder may be.
	MaxHolder = 512
	// MaxStateBytes bounds an encoded State.
	MaxStateBytes = 512 << 10
)

// What a report is refused for, beside a pool's reasons.
var (
	// ErrUnknownRoute is a route that is not in its namespace's plan.
	ErrUnknownRoute = errors.New("there is no such route")
	// ErrNoPool is a route that draws on nothing: it has no limits, its account is not known, or there is no room for it.
	ErrNoPool = errors.New("the route draws on no pool")
	// ErrNotExpected is a gateway of which nobody said that the route governs it.
	ErrNotExpected = errors.New("the route is not known to govern this gateway")
	// ErrNotLeading is what a ledger says that does not lead.
	ErrNotLeading = errors.New("this ledger does not lead")
)
