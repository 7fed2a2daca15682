// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addresses knows those that no provider and no receiver lives at: link-local ones and metadata services, which hand out a
// machine's credentials, in whatever form they are written.
//
// Invariants: policies are refused for exactly what gateways do not dial. An address of IPv6 that carries one of IPv4 is as that.
//
// It imports the standard library only, since the gateway and the control plane both stand on it.
package addresses
