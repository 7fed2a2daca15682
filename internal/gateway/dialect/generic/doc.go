// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package generic is the dialect for providers that have none of their own: failures are classed by status
// and a few machine codes nearly all share, guidance is read in every standard form, and requests and
// responses are metered where they have the shapes of the widespread APIs.
//
// It imports the standard library, the dialect contract, the readers beneath it and the openai dialect,
// whose shapes most providers copy.
package generic
