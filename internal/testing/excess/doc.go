// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package excess judges whether more was sent than a limit allows, by what is known for certain on a machine of any speed.
//
// A call was sent at some time between when it was made and when it arrived. Where a busy machine holds calls up on their
// way, they arrive in a heap though none was sent too early; so an interval is charged only with what was made after it
// began and had arrived when it ended.
//
// Invariants: no delay of any process makes an excess, and without delays the excess over an interval is missed by no more
// than what was made before it. It reads records of arrivals only, and nothing that a gateway says of itself.
//
// It is for tests only; of Headgate it imports the simulated provider only.
package excess
