// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schema compares the types this version of Headgate is built with against what the API server serves. A CRD that
// was not upgraded together with the manager drops, without a word, every field it does not know, and a policy that lost
// one of its limits holds back less than it says.
//
// Invariants: a field that the manager reads and the server drops is found, whatever its depth; the answer is remembered
// for an hour while nothing is missing, and for a few seconds while something is.
//
// It reads only, with rights that everybody has, and imports neither the controller nor the gateway.
package schema
