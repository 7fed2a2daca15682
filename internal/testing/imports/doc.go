// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package imports holds the test of which package may import what: it asks the go command what each
// really links, so that no rule rests on reading.
package imports
