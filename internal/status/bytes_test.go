// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
)

// TestE2BytesAnHourAreBounded: five hundred pods under a load that changes all the time cost etcd at most a megabyte an hour.
func TestE2BytesAnHourAreBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	base := exampleInputs()
	base.Pods = nil
	for i := range 500 {
		base.Pods = append(base.Pods, Pod{Name: fmt.Sprintf("support-6d9f4c7b5-%05d", i), Owner: "deployment/support", OptedIn: true, Injected: i%50 != 0})
	}
	var previous v1alpha1.RateLimitPolicyStatus
	bytes, writes := 0, 0
	for at := time.Duration(0); at < time.Hour; at += 5 * time.Second {
		in := base
		in.Figures.Limits = append([]figures.LimitFigures(nil), base.Figures.Limits...)
		l := &in.Figures.Limits[0]
		l.Binding, l.Remaining = random.IntN(2) == 0, 400_000*random.Float64()
		l.Offered, l.Used = figures.NewFlow(5e6*random.Float64(), figures.Window), figures.NewFlow(2e6*random.Float64(), figures.Window)
		now := exampleNow.Add(at)
		next := Build(in, previous, now)
		if !Due(previous, next, now) {
			continue
		}
		encoded, err := json.Marshal(next.Status)
		if err != nil {
			t.Fatal(err)
		}
		previous, bytes, writes = next.Status, bytes+len(encoded), writes+1
	}
	t.Logf("%d writes and %d bytes an hour", writes, bytes)
	if writes < 60 || writes > 121 || bytes > 1<<20 {
		t.Errorf("%d writes and %d bytes an hour", writes, bytes)
	}
}
