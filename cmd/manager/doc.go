// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Manager is Headgate's control plane: it compiles policies, injects gateways, shares budgets between them
// and writes status. Everything it does is in internal/manager; it must not import the gateway.
package main
