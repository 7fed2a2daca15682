// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reply holds what the gateway's own answers have in common in every dialect: the headers that stop
// a second retry layer and say whose limit it was, and the event that a failure is in a stream that has begun. The body's
// shape is each dialect's own.
//
// It imports a JSON reader and the dialect contract.
package reply
