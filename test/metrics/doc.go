// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics writes docs/metrics.md from what the collectors of the gateway and the manager describe, and checks
// that it is up to date. It holds tests only.
package metrics
