// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"testing"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// BenchmarkCompile is the pure part of a reconcile.
func BenchmarkCompile(b *testing.B) {
	for _, count := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("policies=%d", count), func(b *testing.B) {
			policies := make([]v1alpha1.RateLimitPolicy, count)
			for i := range policies {
				policies[i] = policyOf(fmt.Sprintf("p%d", i), i, map[string]string{"app": fmt.Sprintf("a%d", i)}, openAI())
			}
			in := Inputs{Namespace: "team", Now: testNow}
			first, _ := Compile(policies, in)
			in.Previous = &first
			b.ReportAllocs()
			for b.Loop() {
				Compile(policies, in)
			}
		})
	}
}
