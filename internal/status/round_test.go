// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func TestAmountsAsPeopleSayThem(t *testing.T) {
	for in, want := range map[float64]v1alpha1.Amount{
		-5: "0", 0: "0", math.NaN(): "0", 0.4: "0", 1: "1", 123.2: "123", 999.4: "999", 999.6: "1k",
		3877: "3900", 3998: "4k", 9949: "9900", 9951: "10k", 37_333: "37k", 38_400: "38k", 426_667: "427k",
		400_000: "400k", 999_600: "1M", 1_900_000: "1900k", 1_912_345: "1910k", 2_000_000: "2M",
		12_345_678: "12300k", 1_234_000_000: "1230M", 5e9: "5G", math.Inf(1): "1000000G",
	} {
		if got := amount(in); got != want {
			t.Errorf("amount(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestRaisedAmounts(t *testing.T) {
	for in, want := range map[float64]v1alpha1.Amount{
		0: "0", 3: "3", 123: "130", 400_000: "400k", 426_667: "430k", 430_000: "430k", 430_001: "440k",
		1_910_000: "2M", 99_100: "100k",
	} {
		if got := raisedAmount(in); got != want {
			t.Errorf("raisedAmount(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestPercentNeverHidesSomething(t *testing.T) {
	for _, tc := range []struct {
		part, whole float64
		want        v1alpha1.Percent
	}{
		{0, 0, "0.0%"},
		{0, 10, "0.0%"},
		{1, 100_000, "<0.1%"},
		{67, 680, "9.9%"},
		{1, 2, "50.0%"},
		{99_999, 100_000, ">99.9%"},
		{7, 7, "100.0%"},
		{8, 7, "100.0%"},
	} {
		if got := percent(tc.part, tc.whole); got != tc.want {
			t.Errorf("percent(%v, %v) = %q, want %q", tc.part, tc.whole, got, tc.want)
		}
	}
}

func TestWaitsAsPeopleSayThem(t *testing.T) {
	for in, want := range map[time.Duration]v1alpha1.Wait{
		-time.Second: "0s", 0: "0s", time.Microsecond: "1ms", 3 * time.Millisecond: "3ms",
		304 * time.Millisecond: "300ms", 999 * time.Millisecond: "1s", 1540 * time.Millisecond: "1.5s",
		26600 * time.Millisecond: "27s", 90 * time.Second: "90s", 119900 * time.Millisecond: "2m",
		154 * time.Second: "2m30s", 5 * time.Minute: "5m", 12*time.Minute + 10*time.Second: "12m",
		3*time.Hour + 20*time.Minute: "3h20m", 48 * time.Hour: "48h",
	} {
		if got := wait(in); got != want {
			t.Errorf("wait(%v) = %q, want %q", in, got, want)
		}
	}
}

// An amount is a quantity that Kubernetes reads, within 5.1% of the truth, and rounding keeps the order.
func TestAmountIsACloseQuantity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1, 1e12).Draw(t, "x")
		y := rapid.Float64Range(x, 1e12).Draw(t, "y")
		qx, err := resource.ParseQuantity(string(amount(x)))
		if err != nil {
			t.Fatalf("amount(%v) = %q: %v", x, amount(x), err)
		}
		qy := resource.MustParse(string(amount(y)))
		if got := float64(qx.Value()); math.Abs(got-x) > max(0.5, 0.051*x) {
			t.Errorf("amount(%v) = %q", x, amount(x))
		}
		if qx.Cmp(qy) > 0 {
			t.Errorf("amount(%v) = %q above amount(%v) = %q", x, amount(x), y, amount(y))
		}
	})
}

func TestSpansReadAsPeopleSayThem(t *testing.T) {
	for d, want := range map[time.Duration]v1alpha1.Wait{
		0: "1s", 3400 * time.Millisecond: "3s", 18 * time.Second: "20s", 54 * time.Second: "50s", 58 * time.Second: "1m",
		61 * time.Second: "1m", 95 * time.Second: "1m30s", 4*time.Minute + 50*time.Second: "5m", 5 * time.Minute: "5m",
	} {
		if got := span(d); got != want {
			t.Errorf("%v reads %s, want %s", d, got, want)
		}
	}
}
