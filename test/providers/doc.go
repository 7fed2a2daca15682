// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package providers tests the gateway's dialects against the simulated providers, a call of each kind: the one
// side is written without the other, so that both would have to be wrong in the same way to agree.
package providers
