// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostile gives the binaries that ship what nobody means well sends: requests that break HTTP's framing, paths
// and hosts that aim elsewhere, floods, clients that are slow on purpose, redirects, and YAML that is legal and absurd.
//
// Invariants: what an upstream gets is told by the upstream itself; whatever is sent, no upstream ever gets another
// route's key, another host's name or more requests than there were calls; each test also has a call that means well,
// which is served.
package hostile
