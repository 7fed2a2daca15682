// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dataplane tests the real gateway binary, alone, between the official SDKs with their default
// settings and a simulated provider, on the loopback address. There is no cluster in it.
package dataplane
