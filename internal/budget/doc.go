// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package budget decides which call goes when. It is the one engine behind the gateway's admission, the
// coordinator's grants and the simulator.
//
// A [Scheduler] serves one route. It holds buckets (the policy's limits and the mirrors of the provider's)
// and lanes. Every bucket b has a level L, a rate R and a capacity C; lane i has a share r of every bucket and
// on each a credit e, which grows by r·R. A waiting call of lane i goes when on each of its buckets L ≥ c and
// either e ≥ c (it is entitled) or L − c ≥ the credit of all other lanes (it borrows what nobody claims). The entitled
// go first, oldest commitment first; borrowers by priority, then by weighted virtual time.
//
// Invariants, each pinned by a test:
//   - levels never exceed the capacity, are never NaN, and only settlement puts them below zero;
//   - the credits of a bucket add up to at most its level, while there is no debt and the lanes' ceilings add up
//     to at most the capacity;
//   - all buckets of a call are charged together or not at all, and given back exactly once;
//   - a clock that steps back changes nothing, and no edit adds to a level;
//   - what waits is bounded, by lane and as a whole, and only calls of lower priorities give way for lack of room:
//     never a committed head, never a retry;
//   - a priority is its lane's; nothing in a call changes it, and no priority or weight touches another lane's credit.
//
// The package is pure: it takes the time as an argument, starts no goroutine, takes no lock (its owner holds
// one) and imports only the standard library, so that the same code runs on a simulated clock.
package budget
