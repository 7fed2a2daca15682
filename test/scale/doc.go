// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command scale measures how many gateways one manager serves: a real kube-apiserver and etcd, the manager's own binary,
// pods that only the API server knows, and for each a gateway without a data plane (internal/testing/drawer) with a real
// token, a real stream and a real holder of budgets:
//
//	scale --manager bin/scale/manager --gateways 100,1000,5000
//
// All gateways are in this process, so it and the API server have the same cores as the manager; the manager's own CPU is
// read from the kernel. A fleet grows from one number to the next. What does not fit the time is left out, and said to be.
package main
