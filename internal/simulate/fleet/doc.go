// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fleet is the gateways of a simulation that share a route's limits by a pool: production admission at each
// gateway, internal/ledger between them, and the messages of both on simulated time.
//
// Invariants: a gateway's limits have what its holder may spend at that moment, before and after every decision; nothing
// reaches a gateway but grants, and nothing the ledger but reports, each after the time that a message takes; an
// incarnation that crashed is heard of no more.
//
// The ledger lives on the true clock, each gateway on its own. It imports no Kubernetes code and nothing that serves or
// sends.
package fleet
