// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package upstream reaches providers: the transport, which addresses it refuses to dial, what is done to
// headers on the way there and back, and which errors prove that nothing was sent.
//
// Invariants: redirects are not followed and no response is decoded (the transport is used without a
// client); there is no timeout that could cut a healthy stream; link-local and metadata addresses are
// refused after name resolution, so that a name cannot hide them; hop-by-hop headers do not pass.
//
// It imports the standard library and internal/addresses only.
package upstream
