// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"testing"
	"time"

	policies "github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/fleet"
	"github.com/headgate-dev/headgate/internal/simulate/gateway"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// Leaders that follow each other every two minutes cost no rate and break no limit, and gateways keep what they hold.
func TestLeadersThatFollowEachOtherCostNoRate(t *testing.T) {
	decoded, err := policies.Decode([]byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	compiled, _ := policies.Compile(decoded, policies.Inputs{Namespace: "default"})
	wl, err := workload.Parse([]byte("kind: Workload\nduration: 12m\nwarmup: 1m\ninitialLevel: 0%\n" + provider +
		"\ngateways: {count: 4, skew: [70, 10, 10, 10], latency: 30ms, jitter: 100ms, clockDriftPPM: 100}\n" + saturated))
	if err != nil {
		t.Fatal(err)
	}
	follows := 0
	maker := func(env gateway.Env) gateway.Fleet {
		f := fleet.NewFleet(env)
		for at := 2 * time.Minute; at < 12*time.Minute; at += 2 * time.Minute {
			env.Clock.At(clock.Start.Add(at), func() {
				f.Follow()
				follows++
			})
			env.Clock.At(clock.Start.Add(at+2*time.Second), func() {
				sum := 0.0
				for _, held := range f.Held("itpm") {
					sum += held
				}
				if sum <= 0 {
					t.Errorf("two seconds after a change of leaders gateways hold %v", f.Held("itpm"))
				}
			})
		}
		return f
	}
	r, err := world.Run(world.Options{
		Workload: wl, Policy: &compiled.Policies[0], Seed: 1,
		Client: gateway.Maker(gateway.Options{Policy: &compiled.Policies[0], Fleet: maker}),
	})
	if err != nil {
		t.Fatal(err)
	}
	kept(t, r)
	used := r.Provider["anthropic"].Budgets["InputTokens"].Utilisation
	t.Logf("%d leaders, utilisation %.4f, burned %d", follows+1, used, r.Gateways.GrantsBurned)
	if follows != 5 || used < 0.98 {
		t.Errorf("%d changes of leaders, utilisation %.4f", follows, used)
	}
}
