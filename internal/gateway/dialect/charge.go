// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

// Unknown is a usage of which nothing is known.
func Unknown() Usage {
	return Usage{Input: -1, Output: -1, CachedRead: -1, CacheWrite: -1, Reasoning: -1}
}

// ChargedInput is what input limits are charged: all input the provider processed, and cached reads only
// where they count. It is -1 if the input is unknown.
func (u Usage) ChargedInput(cachedReadsFree bool) int64 {
	if u.Input < 0 {
		return -1
	}
	read, write := max(u.CachedRead, 0), max(u.CacheWrite, 0)
	switch {
	case u.CacheOutside && cachedReadsFree:
		return u.Input + write
	case u.CacheOutside:
		return u.Input + write + read
	case cachedReadsFree:
		return max(u.Input-read, 0)
	}
	return u.Input
}
