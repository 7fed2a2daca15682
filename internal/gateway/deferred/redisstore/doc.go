// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisstore keeps deferred calls in one Redis or Valkey server, or behind one address that leads to the
// primary. They outlive the pod, and their tickets answer in every pod of the namespace whose gateway uses the same
// store.
//
// Each ticket has one owner, the gateway that makes its call. Owners say that they are alive; a gateway that finds a
// ticket of one that is not takes it over, and what the former owner still writes is refused.
//
// Invariants: every change is one script on keys of one slot, so that it happens whole or not, and only by the owner;
// every key has an end, so that what nobody looks after goes by itself; the time is the server's.
//
// It imports go-redis, packages store and storeurl, and package upstream for the certificates that are trusted.
package redisstore
