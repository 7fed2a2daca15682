// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command soak runs the real gateway for long without a node (SOAK_NODE=0 make soak; the soak on the node is in
// test/e2e), in real time: two gateways with a policy and an account each, between the official SDKs and the
// simulated provider, all on the loopback address. Meanwhile policies are edited, the provider misbehaves by script
// and is restarted, clients leave, and one of the gateways is killed now and then; the other lives from beginning to
// end, so that what grows in it is seen.
//
// It checks, and fails where it does not hold, that
//   - every answer is the provider's, byte for byte, or ends visibly broken, and none takes longer than its
//     deadline allows;
//   - for every interval, arrivals at the provider stay within burst + (1+ε)·rate·length of the limit in
//     force, within each life of a gateway (a lone gateway starts with full buckets);
//   - nobody comes again earlier than the provider said, not by a nanosecond, and a quota that is exhausted is
//     not asked again before its probe is due;
//   - memory, goroutines and open files do not grow, and nothing is in flight, queued or reserved at rest;
//   - all of this has happened often enough to mean something.
//
// The referee knows nothing of the gateway's code: it reads the provider's log of arrivals, the gateway's
// metrics, and what the SDKs got.
package main
