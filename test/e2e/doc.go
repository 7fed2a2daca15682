// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests Headgate on a real node: real API server, kubelet, containers and network. hack/e2e brings
// the node up, installs Headgate and a simulated provider, and runs the tests with KUBECONFIG set; the build tag
// e2e keeps them out of go test ./... .
//
// Each test has its own namespace, and its own account at the provider (an API key of its own), so tests neither
// share buckets nor arrivals. Tests that take the manager or a part of the cluster away come first, one after another;
// the others run in parallel. Every wait is bounded. When a namespace goes, everything that its pods logged, and what
// Kubernetes shows of it, is searched for its key and for prompts.
//
// With the build tag soak as well, TestSoakOnTheNode runs for long while everything that can die does; hack/soak gives
// it the node and its length.
//
// The package imports the API's types, the demo's load, the provider's arrivals and the soak's referee; nothing of the
// control plane or the gateway, which it sees from outside only.
package e2e
