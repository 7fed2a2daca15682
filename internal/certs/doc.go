// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certs gives the manager's servers their certificates without another controller.
//
// The leader keeps an authority in one Secret of the manager's own namespace and publishes its
// certificate to the webhook configurations; each replica signs a leaf that never leaves its memory.
//
// Invariants: a certificate is published before anything is signed with its key, and stays published
// as long as what it signed may be in use, so that a rotation breaks no handshake. At most three
// authorities exist at a time: previous (no key), current, next. A leaf is replaced only by one that
// callers can verify. The authority's key is written to the Secret and nowhere else, and read only to
// sign. Everything is done again at each poll, from what is stored, so a lost race or a restart needs
// no memory.
//
// Reads must not come from a cache: a cache would need the right to list Secrets.
package certs
