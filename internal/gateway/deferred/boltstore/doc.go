// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package boltstore keeps deferred calls in one file of a directory, with bbolt. They outlive the gateway's process and
// container, and go with the pod, whose volume the directory is.
//
// Invariants: what Create and Save return for is on the disk; one goroutine writes, and writes what came meanwhile in
// one transaction; a file that is damaged is put aside under another name and never crashes the gateway, neither when
// it is opened nor later; the time of the store counts no more than an hour for the time between two runs.
//
// It imports bbolt and package store.
package boltstore
