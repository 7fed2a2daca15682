// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"
)

// TestWhenANamespaceIsLookedAtAgain: as soon as anything asks for it, and for an error alone if there is one.
func TestWhenANamespaceIsLookedAtAgain(t *testing.T) {
	failed := errors.New("failed")
	for _, tc := range []struct {
		dropped, refused, conflict bool
		err                        error
		want                       time.Duration
	}{
		{},
		{dropped: true, want: schemaRetry},
		{refused: true, want: storeRetry},
		{dropped: true, refused: true, want: schemaRetry},
		{dropped: true, refused: true, conflict: true, want: time.Second},
		{dropped: true, refused: true, conflict: true, err: failed},
	} {
		if got := again(tc.dropped, tc.refused, tc.conflict, tc.err).RequeueAfter; got != tc.want {
			t.Errorf("%+v: after %s", tc, got)
		}
	}
}
