// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts a real kube-apiserver and etcd for tests, with Headgate's CRD installed.
//
// Invariants: it never skips, so a machine without the binaries fails and says what to run; everything it
// starts listens on loopback only and is stopped with the test; one server serves all tests of a package,
// which keep apart by using a namespace each.
//
// It is for tests only: nothing that ships may import it.
package controlplane
