// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

// counted is how many pieces of content a meter has seen.
func (t *tally) counted() int64 { return t.deltas }
