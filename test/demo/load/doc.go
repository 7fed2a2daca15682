// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package load is what the demo's apps and the driver that runs them say to each other: which load to make
// (Run) and what became of it (Result). The apps serve it as POST /run and GET /result.
//
// It imports the standard library only.
package load
