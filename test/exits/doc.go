// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package exits ends calls through the real gateway in every way that a call can end, 25 times each and all at once,
// and looks at what is left: nothing under way, levels as the refill has them, no goroutine, no descriptor and no memory
// beyond what one such round needs. There is one round by default; with HEADGATE_EXITS_ROUNDS there are so many, and
// calls end a hundred times each.
//
// What needs a hook that does not ship (panics, a plan that changes at an exact moment) is in internal/gateway/proxy.
package exits
