// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command gateway is the sidecar's data plane: it serves the routes of a plan to the app on the loopback
// address. With --policy it serves a RateLimitPolicy file instead, without any cluster.
//
// It links no Kubernetes client. It alone of the gateway's code knows policies, for --policy.
package main
