// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package freeport finds ports for processes that have to be told where to listen, and for servers that listen at the same
// address again after they were killed.
//
// Invariants: an address is held by a socket that never listens, until the test or the process that asked for it ends. So
// neither the system nor another process that asks here gives it to anybody else, and who was given it can listen there, as
// often as it likes. A Redis Cluster's second port, 10,000 above, is held as well. Servers must ask to share the address
// (SO_REUSEADDR), which those of Go, Redis, nginx and HAProxy do.
//
// It is for tests only; it imports the standard library only.
package freeport
