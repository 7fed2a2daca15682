// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api tests the CRD on a real API server: that it installs, that its rules and messages are right,
// that internal/policy gives the same verdicts, that every sample is accepted and compiles, and what
// kubectl shows.
package api
