// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/report"
	"github.com/headgate-dev/headgate/internal/gateway/share"
	"github.com/headgate-dev/headgate/internal/plan"
)

// planner puts plans in force in a real data plane.
type planner struct{ gateway *proxy.Gateway }

func (p planner) Revision() int64 { return p.gateway.Revision() }

func (p planner) Offer(_ int64, json []byte) error {
	parsed, err := plan.Parse(json)
	if err == nil {
		p.gateway.Apply(parsed, time.Now())
	}
	return err
}

// The data plane's own buckets follow the stream: no plan, the plan with the safe share, the share, and the
// safe share again once the coordinator is gone.
func TestARealGatewaysBucketsFollowTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		pod := w.pod("ns", "a", nil)
		g := proxy.New(proxy.Options{
			Dialect:   func(name string) (dialect.Dialect, bool) { d := registry.ByName(name); return d, d != nil },
			Transport: http.DefaultTransport, Shared: true, Namespace: "ns",
		})
		file := filepath.Join(t.TempDir(), "token")
		must(t, os.WriteFile(file, []byte(token(pod)), 0o600))
		client, err := report.New(report.Options{
			URL: "https://" + serviceName + ":8443", TokenFile: file, CA: func() []byte { return w.ca },
			Identity: report.Identity{Namespace: pod.Namespace, PodName: pod.Name, PodUID: pod.UID},
			Source:   share.Source{Gateway: g}, Plans: planner{g}, Shares: share.Shares{Gateway: g},
			Dial: func(ctx context.Context, _, address string) (net.Conn, error) { return w.dialFrom(ctx, pod, address) },
		})
		must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { client.Run(ctx) })
		capacity := func() float64 {
			for _, route := range g.Snapshot(time.Now(), false) {
				if route.GetPolicy() == "support" {
					return route.GetLimits()[0].GetCapacity()
				}
			}
			return -1
		}
		if got := capacity(); got != -1 {
			t.Errorf("before any plan its capacity is %v", got)
		}
		eventually(t, 5*time.Second, "the whole burst", func() bool { return capacity() == 6000 })
		eventually(t, 5*time.Second, "a figure of it", func() bool {
			f := r.Policy("ns", "support", time.Now())
			return len(f.Limits) == 2 && f.Limits[1].Name == "tokens" && f.Limits[1].Capacity == 6000 && f.Gateways[0].Generation == 1
		})
		r.kill()
		eventually(t, 12*time.Second, "the safe share", func() bool { return capacity() < 6000 })
		if got := capacity(); got <= 0 || got > 6000/2 {
			t.Errorf("the safe share's capacity is %v", got)
		}
		cancel()
		wg.Wait()
	})
}

// A leader that died leaves its address on the lease for a while.
func TestAnAddressWhereNobodyAnswersIsNotFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		w.lead("ghost")
		g := w.join(w.pod("ns", "a", nil))
		defer g.leave()
		time.Sleep(30 * time.Second)
		if g.Connected() {
			t.Error("it is connected to nobody")
		}
		w.lead("a")
		eventually(t, 20*time.Second, "the new leader", g.Connected)
	})
}
