// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package callback delivers answers to where callers want them: which URLs are allowed, and the one request that
// carries an answer there.
//
// Invariants: only https, only to hosts that the policy lists, looked at again before each delivery; the address a name
// leads to is looked at when it is dialled, so that no name leads into the pod, to a metadata service or to a link-local
// address; no proxy stands between, which would dial in our place; redirects are not followed, and answers not read.
//
// It imports the standard library, and package upstream for the addresses that are never dialled.
package callback
