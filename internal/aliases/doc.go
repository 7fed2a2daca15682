// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package aliases bounds what YAML's aliases grow to. A decoder counts how often an alias is followed, not how long
// what stands behind it is: a file of 200 KB can become gigabytes of JSON.
//
// Invariants: a document is measured without being written out, in time and memory that go with its own size; one
// without anchors is not looked at.
//
// It imports the standard library and the YAML parser only.
package aliases
