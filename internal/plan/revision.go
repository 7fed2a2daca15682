// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"time"
)

// NextRevision returns the revision of a plan that replaces one of revision previous (0: none is known).
// The clock keeps it growing over the deletion of the object that carried the last one; the increment
// keeps it growing when the clock went back.
func NextRevision(previous int64, now time.Time) int64 {
	return max(previous+1, now.UnixMilli())
}

// SameContent says whether two plans differ at most in their revision. A plan with the same content keeps
// its revision, so that nothing is written and nobody reloads.
func SameContent(a, b Plan) bool {
	a.Revision, b.Revision = 0, 0
	left, err := marshal(a)
	if err != nil {
		return false
	}
	right, err := marshal(b)
	return err == nil && bytes.Equal(left, right)
}
