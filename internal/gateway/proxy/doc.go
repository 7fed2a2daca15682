// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proxy is the gateway's data plane: it takes an app's call to /ROUTE/…, lets it through admission,
// sends it to the route's provider, reads the answer, waits and sends again where that is due, and
// passes the answer on as it comes.
//
//	response → dialect (what it says) → admission (what it means for the buckets) → decide (what to do)
//
// Invariants: the host of a call is always its route's; every exit path, a panic included, ends the call's
// reservation exactly once; a call that waits holds no reservation; a POST that may have been processed
// is never sent again; a call fails over once at most, before anything of an answer has passed, and with no key to another
// host than it is for; headers and bodies pass unchanged, but for what the package's comments name;
// no key, prompt or query string is logged.
//
// It imports no Kubernetes code and nothing of the policy but policy/decide.
package proxy
