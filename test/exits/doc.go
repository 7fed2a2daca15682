// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package exits ends calls through the real gateway in every way that a call can end, a hundred times each and all at
// once, and looks at what is left: nothing under way, levels as the refill has them, no goroutine, no descriptor and
// no memory beyond what one such round needs.
//
// What needs a hook that does not ship (panics, a plan that changes at an exact moment) is in internal/gateway/proxy.
package exits
