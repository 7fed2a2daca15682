// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import "testing"

// TestGatewaysShareOneBudget without a coordinator: at 1.5 times the limit they use it, all of it, and no more.
func TestGatewaysShareOneBudget(t *testing.T) {
	atOnce(t)
	f := newFleet(t, nil)
	f.join(3)
	got := f.measure(load{times: 1.5, large: true}, seconds(), nil)
	f.conforms(got)
	if measured() == 0 {
		return
	}
	if got.throttled > 0 {
		t.Errorf("the provider refused %d calls", got.throttled)
	}
	if got.utilisation < utilised {
		t.Errorf("utilisation is %.3f", got.utilisation)
	}
}

// TestOneHotGatewayGetsTheRate among idle ones.
func TestOneHotGatewayGetsTheRate(t *testing.T) {
	atOnce(t)
	f := newFleet(t, nil)
	f.join(4)
	got := f.measure(load{times: 1.5, hot: 100, large: true}, seconds(), nil)
	f.conforms(got)
	if measured() == 0 {
		return
	}
	if got.throttled > 0 {
		t.Errorf("the provider refused %d calls", got.throttled)
	}
	if got.perSecond < utilised*rate {
		t.Errorf("it had %.0f a second of %.0f", got.perSecond, rate)
	}
}
