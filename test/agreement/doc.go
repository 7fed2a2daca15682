// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agreement holds the simulator to the gateway: the same policy and the same calls, once in the simulator and once
// through the gateway's own code with the simulated provider behind it, must come to the same successes, utilisation and
// waits, within 5 %. The account is saturated, so that waits are seconds and follow from limits and deadlines.
//
// Both are on simulated time, so that no machine is too slow. With HEADGATE_SHARING_SECONDS, as in make sharing, the binary
// is run in real time on the loopback address as well. A run in which the machine kept the callers themselves from calling in
// time is no measurement and is made again; a difference in a run that is one fails, however often it was run.
//
// It is for tests only.
package agreement
