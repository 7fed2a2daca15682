// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// TestFaultsOfTheStoreExceedNothing: while it is killed, stands still, is slow, forgets everything or is cut off, and after it is
// back, no interval sees more than burst and refill, no call fails for that alone, and then the limit is used again.
func TestFaultsOfTheStoreExceedNothing(t *testing.T) {
	atOnce(t)
	for name, fault := range map[string]func(f *fleet, l *redisserver.Link){
		"killed":  func(f *fleet, _ *redisserver.Link) { f.store.Kill(); time.Sleep(6 * time.Second); f.store.Run() },
		"paused":  func(f *fleet, _ *redisserver.Link) { f.store.Pause(); time.Sleep(6 * time.Second); f.store.Resume() },
		"flushed": func(f *fleet, _ *redisserver.Link) { f.store.Do("FLUSHALL") },
		"cut off": func(_ *fleet, l *redisserver.Link) { l.Cut(true); time.Sleep(6 * time.Second); l.Cut(false) },
		"slow":    func(_ *fleet, l *redisserver.Link) { l.Delay(2 * time.Second); time.Sleep(6 * time.Second); l.Delay(0) },
	} {
		t.Run(name, func(t *testing.T) {
			atOnce(t)
			var l *redisserver.Link
			f := newFleet(t, func(s *redisserver.Server) string {
				l = redisserver.NewLink(t, s.Address)
				return "redis://" + l.Address
			})
			f.join(3)
			got := f.measure(load{times: 1.5, large: true}, seconds()+8*time.Second, func() { fault(f, l) })
			f.conforms(got)
			if n := f.answered[0].Load() + f.answered[500].Load(); n > 0 {
				t.Errorf("%d calls failed", n)
			}
			if measured() == 0 {
				return
			}
			if n := f.answered[502].Load(); n > 0 {
				t.Errorf("%d calls did not reach the provider", n)
			}
			// Half of the rate is sure for 6 of 16 seconds, and as much as is there for the rest.
			if got.perSecond < 0.5*rate {
				t.Errorf("%.0f a second of %.0f", got.perSecond, rate)
			}
		})
	}
}
