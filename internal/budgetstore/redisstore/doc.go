// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisstore is the budget store in Redis or Valkey: one server, a primary that Sentinels name, or a cluster.
//
// Each draw is one Lua script on the three keys of its account, so that it happens whole or not, on all budgets of a call
// at once. The keys' names hold the account in braces, so that a cluster has them in one slot, and the version of their
// layout; each has an end. The script comes with the program: servers know it by its digest, so that programs of different
// versions may draw on one account side by side; one that a server does not know is sent again.
//
// Invariants, each pinned by a test on a real server:
//   - L + ΣH ≤ B' for each budget, whatever is lost, late, made twice, forgotten by the server, or edited;
//   - time is the server's, but it never goes back, and never faster than the clocks of the drawers;
//   - what a drawer that falls silent has in hand is spent, and its share is left to it;
//   - a budget that the server does not know begins with nothing;
//   - large calls and small ones each have their part, and so has each drawer;
//   - drawers, their incarnations, budgets and the sizes of requests are bounded;
//   - no error and no log has a password.
//
// It imports go-redis and packages budgetstore and storeurl, nothing of the gateway's or the manager's.
package redisstore
