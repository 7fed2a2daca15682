// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package baseline is what apps do without Headgate, or with less of it, played against the same arrivals and the same
// providers, so that a policy's figures have something to be compared with:
//
//   - none: every call is sent at once, and a refusal is final;
//   - sdk-exponential: no gateway; the official SDKs' own retries, see [Exponential];
//   - gateway-no-lanes: one gateway that counts the policy's limits in token buckets, first in, first out: no lanes,
//     no deadlines, nothing learned from the provider, see [Queue].
//
// Where a baseline could be built more or less well, it is built well: what is compared is the idea, not a poor form of
// it. So the queue counts from the level the provider begins with, forgets callers who have left, and is one for the
// whole fleet.
//
// Invariants: every call is ended exactly once; no time is read but the world's; nothing of the engine is used: it must
// not import internal/budget nor internal/gateway/admission.
package baseline
