// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command coordinator serves one gateway of the benchmark as the manager serves the gateways of a cluster: it compiles a
// file of policies to the plan that the gateway is started with, and grants what the gateway draws.
//
// Into --dir it writes what an injected pod is given: plan, labels, token, and at last ca.pem, its own certificate; whoever
// starts it waits for that. There is no Kubernetes: the one pod exists, its token is as it was written, and nobody else leads.
//
// It is a command of its own so that the benchmark's bare proxy does not carry its dependencies.
package main
