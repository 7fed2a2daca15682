// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package referee_test

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/test/soak/referee"
)

var start = time.Unix(1_700_000_000, 0)

func after(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// TestRefereeFindsExcessOfAnyInterval with amounts by hand: 60 a minute, a burst of 10.
func TestRefereeFindsExcessOfAnyInterval(t *testing.T) {
	full := []referee.Edit{{start, 100}}
	account := func(edits []referee.Edit, lives []time.Time) referee.Account {
		return referee.Account{PerMinute: 60, Burst: 10, Edits: edits, Settling: 4 * time.Second, Lives: lives}
	}
	for name, tc := range map[string]struct {
		account  referee.Account
		arrivals []referee.Spending
		want     float64
	}{
		"the burst":                {account(full, nil), []referee.Spending{{after(0), 10}}, 0},
		"one too many":             {account(full, nil), []referee.Spending{{after(0), 11}}, 1},
		"burst and refill":         {account(full, nil), []referee.Spending{{after(0), 10}, {after(5), 5}}, 0},
		"a moment too soon":        {account(full, nil), []referee.Spending{{after(0), 10}, {after(4.5), 5}}, 0.5},
		"after a long calm":        {account(full, nil), []referee.Spending{{after(0), 1}, {after(1000), 10}, {after(1001), 3}}, 2},
		"a new life is full":       {account(full, []time.Time{after(1)}), []referee.Spending{{after(0), 10}, {after(1.5), 10}}, 0},
		"and not fuller":           {account(full, []time.Time{after(1)}), []referee.Spending{{after(0), 10}, {after(1.5), 12}}, 2},
		"half the amount":          {account([]referee.Edit{{start, 50}}, nil), []referee.Spending{{after(0), 5}, {after(2), 1}}, 0},
		"half of it is exceeded":   {account([]referee.Edit{{start, 50}}, nil), []referee.Spending{{after(0), 5}, {after(2), 3}}, 2},
		"an edit has time to come": {account([]referee.Edit{{start, 100}, {after(1), 50}}, nil), []referee.Spending{{after(2), 10}}, 0},
		"and then it counts":       {account([]referee.Edit{{start, 100}, {after(1), 50}}, nil), []referee.Spending{{after(0), 0}, {after(20), 10}}, 5},
		"more counts at once":      {account([]referee.Edit{{start, 50}, {after(100), 100}}, nil), []referee.Spending{{after(0), 0}, {after(110), 10}}, 0},
	} {
		if got, _ := tc.account.Excess(tc.arrivals); math.Abs(got-tc.want) > 1e-6 {
			t.Errorf("%s: an excess of %v, want %v", name, got, tc.want)
		}
	}
}
