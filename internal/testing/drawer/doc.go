// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package drawer is a gateway without a data plane: a real stream over TLS and HTTP/2, with a real holder of budgets that
// spends what it is granted on calls that it makes up. Thousands of them fit a process.
//
// Invariants: it spends nothing but what its holder lets it, and tells of everything it spends; all that the coordinator
// learns of it comes by the stream.
//
// It is for tests only: nothing that ships may import it.
package drawer
