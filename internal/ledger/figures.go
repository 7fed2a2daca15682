// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import "time"

// TopTenants is how many tenants of an account are listed.
const TopTenants = 20

// Figures are a ledger's at one time. They share nothing with it.
type Figures struct {
	Routes   map[Route]RouteFigures
	Accounts map[string]AccountFigures
	// Pools and Holders count what there is: a gateway counts once for each route.
	Pools, Holders int
	// Refused counts reports that were not taken in since the leadership began.
	Refused uint64
}

// RouteFigures are a route's.
type RouteFigures struct {
	// Account is that of the route, empty without one.
	Account string
	// Limits are in the plan's order, by the plan's names.
	Limits []LimitFigures
	// Lanes are in the plan's order.
	Lanes []LaneFigures
	// Holders are the gateways that report, Silent those that are expected and do not.
	Holders, Silent int
}

// LimitFigures are a route's of one limit: of its account, or its own. Units are a minute's but for slots, which are counted.
type LimitFigures struct {
	Name    string
	Account string
	// Guaranteed is the tenant's own part, Share what it may count on now: with what others leave it. Without an account
	// both are the limit's effective rate.
	Guaranteed, Share float64
	// Used is what was spent of late, Borrowed what of it was not the tenant's own, Lent what of its own others use.
	Used, Borrowed, Lent float64
	// Waiting are units that gateways asked for and were not granted.
	Waiting float64
	// Level is what is not granted: of an account's limit the tenant's own part of it.
	Level float64
}

// LaneFigures are one lane's of a route.
type LaneFigures struct {
	Name string
	// Waiting counts large calls that wait to be granted: the first of each gateway.
	Waiting int
	// NextBulk estimates how long it would wait, Binding names the limit that it would wait for longest. Known is false if no
	// large call is known, or none will ever go.
	NextBulk time.Duration
	Binding  string
	Known    bool
}

// AccountFigures are an account's, over all namespaces.
type AccountFigures struct {
	Limits []AccountLimitFigures
	// Tenants are at most TopTenants, those that use most first; Others counts the rest.
	Tenants []TenantFigures
	Others  int
	// Holders are the gateways that report, Silent those that are expected and do not.
	Holders, Silent int
	// Left are routes for which there was no room in the account's pool: they stay on their safe share. Unbounded are
	// tenants whose borrowing limit had no room there.
	Left, Unbounded int
}

// AccountLimitFigures are one limit's.
type AccountLimitFigures struct {
	Name string
	// Rate is what it refills at a minute, less the safe shares of the silent; Capacity is B'.
	Rate, Capacity float64
	// Level is what is not granted, Held what gateways have, Unknown what an earlier leader's may have beside that.
	Level, Held, Unknown float64
	// Used is what was spent of late a minute; Waiting is what was asked for and not granted.
	Used, Waiting float64
}

// TenantFigures are one namespace's of an account, on the limit of which it uses most. Units are a minute's.
type TenantFigures struct {
	Namespace string
	// Limit is the one that the others are about.
	Limit                            string
	Guaranteed, Used, Borrowed, Lent float64
	Share, Waiting                   float64
	// WaitingCalls counts large calls that wait.
	WaitingCalls int
	// Holders are its gateways that report.
	Holders int
	// part is by which they are ordered.
	part float64
}
