// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package control puts plans in force, wherever they come from: the mounted file, the coordinator's stream or
// a compiled policy file.
//
// Invariants: a plan that is bad, empty or half written changes nothing but the error that is reported; a
// plan of a lower revision than the one in force is not taken; what the plan says of TLS is in force with it.
//
// It imports no Kubernetes code.
package control
