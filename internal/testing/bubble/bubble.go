// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bubble

import (
	"testing"
	"testing/synctest"
	"time"
)

// lingering is for how long time goes on: nothing of net/http takes longer by itself.
const lingering = 10 * time.Second

// Run is synctest.Test for tests that start servers.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(lingering) }) // the first to be registered is the last to run
		f(t)
	})
}
