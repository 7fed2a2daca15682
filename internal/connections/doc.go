// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package connections bounds the connections that a server has at once, on ports that anybody in a cluster may reach.
//
// Invariants: there are never more than the bound; beyond it the one goes that has been without a request for longest, so that
// who holds connections and asks nothing keeps nobody out who asks.
//
// It imports the standard library only.
package connections
