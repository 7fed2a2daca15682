// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// TestHerdsComeBackInOrder: after the first wave, which nothing can prevent, a herd comes at the pace of the bucket and is
// not refused again; nobody comes before the time that the provider told.
func TestHerdsComeBackInOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		// told is until when nobody may come, in seconds; most is how many sends a second the bucket admits, with the
		// tokens that it gained meanwhile spread over no less than two seconds.
		told, most float64
	}{
		"herd-told-nine-seconds": {told: 9, most: 2},
		"herd-unknown":           {told: 1, most: 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, name+".yaml").withoutBaselines().play(t, seed)
			var sends, refusals []result.Point
			for _, s := range r.Series {
				switch s.Of {
				case result.OfSends:
					sends = s.Points
				case result.OfThrottled:
					refusals = s.Points
				default:
					// Others say nothing of a herd.
				}
			}
			total := 0
			for i, p := range sends {
				if p.Seconds < 1 {
					continue // the first wave
				}
				if refusals[i].Value > 0 {
					t.Errorf("refused again at %v s", p.Seconds)
				}
				if p.Value > 0 && p.Seconds < tc.told {
					t.Errorf("somebody came at %v s, told to wait %v s", p.Seconds, tc.told)
				}
				total += int(p.Value)
				if p.Value > tc.most*2 { // a point is half a second or less
					t.Errorf("%v a second came at %v s, the bucket admits %v", p.Value, p.Seconds, tc.most)
				}
			}
			if len(sends) == 0 || total == 0 {
				t.Error("nobody came back")
			}
		})
	}
}
