// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agreement holds the simulator to the real gateway binary: the same policy and the same calls, once on
// simulated time and once in real time against the simulated provider on the loopback address, must come to the same
// successes, utilisation and waits, within 5 %.
//
// What is compared depends on arithmetic, not on how fast the machine is: the account is saturated, so that waits are
// seconds and follow from limits and deadlines. A run in which the machine kept the callers themselves from calling in
// time is no measurement and is made again; a difference in a run that is one fails, however often it was run.
//
// It is for tests only.
package agreement
