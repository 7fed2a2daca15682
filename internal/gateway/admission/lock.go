// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

// lock takes the gate's lock, if it is not its owner's business: see Options.Owned.
func (g *Gate) lock() {
	if !g.owned {
		g.mu.Lock()
	}
}

func (g *Gate) unlock() {
	if !g.owned {
		g.mu.Unlock()
	}
}
