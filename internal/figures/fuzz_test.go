// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"encoding/json"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/wire"
)

// FuzzReport: whatever bytes a gateway sends as its report, what is kept and read of it is finite and bounded, and can
// be written down.
func FuzzReport(f *testing.F) {
	add := func(r *wire.Report) {
		b, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(&wire.Report{})
	add(&wire.Report{Sequence: 1, UptimeMillis: 1, PlanError: "half", Routes: []*wire.RouteReport{{
		Policy: "support", Provider: "anthropic", Calls: 3, Sends: 4, Limits: []*wire.LimitReport{{Name: "tokens"}}, Lanes: []*wire.LaneReport{{Name: "default"}},
	}}})
	add(&wire.Report{Sequence: 1<<64 - 1, UptimeMillis: 1<<64 - 1, Routes: []*wire.RouteReport{{Policy: "\x00", Calls: 1<<64 - 1}}})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r wire.Report
		if proto.Unmarshal(b, &r) != nil {
			return
		}
		now := time.Unix(1_800_000_000, 0)
		s := NewStore()
		pod := Pod{Namespace: "ns", Name: "pod", UID: "u"}
		for i := range 3 {
			s.Observe(pod, uint64(i/2), &r, now.Add(time.Duration(i)*time.Second))
		}
		for _, route := range r.GetRoutes() {
			figures, _ := s.Policy("ns", route.GetPolicy(), now.Add(5*time.Second))
			text, err := json.Marshal(figures)
			if err != nil {
				t.Fatalf("figures that cannot be written: %v", err)
			}
			if len(text) > 4<<20 {
				t.Errorf("figures of %d bytes", len(text))
			}
		}
	})
}
