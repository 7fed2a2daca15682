// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission puts calls to one route through internal/budget: it estimates what they cost, keeps
// the mirrors of the provider's own buckets, waits, and settles.
//
// Invariants: a Ticket owns its reservation and ends it exactly once, on every path; nothing waits with a
// reservation in hand; observation only tightens: no report of the provider raises a level or a declared
// limit; all that is learned is bounded; a gate takes one short lock a step and calls nothing under it.
//
// It imports internal/budget, plan, dialect and the gateway's dialect contract, never the proxy.
package admission
