// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import "context"

// everywhere runs on every replica, and onLeader on the leader alone.
type (
	everywhere func(ctx context.Context) error
	onLeader   func(ctx context.Context) error
)

func (f everywhere) Start(ctx context.Context) error { return f(ctx) }
func (f everywhere) NeedLeaderElection() bool        { return false }
func (f onLeader) Start(ctx context.Context) error   { return f(ctx) }
func (f onLeader) NeedLeaderElection() bool          { return true }
