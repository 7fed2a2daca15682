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
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/report"
	"github.com/headgate-dev/headgate/internal/gateway/share"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
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

// The data plane itself, with the client that ships: it puts the plan in force, draws on it by what the coordinator grants,
// and gives back what it has when it leaves.
func TestARealGatewayDrawsOverTheStream(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r, _ := drawn(t)
		defer r.kill()
		pod := w.pod("ns", "a", nil)
		g := proxy.New(proxy.Options{
			Dialect:   func(name string) (dialect.Dialect, bool) { d := registry.ByName(name); return d, d != nil },
			Transport: http.DefaultTransport, Shared: true, Namespace: "ns", Incarnation: 7, Fresh: true,
		})
		file := filepath.Join(t.TempDir(), "token")
		must(t, os.WriteFile(file, []byte(token(pod)), 0o600))
		client, err := report.New(report.Options{
			URL: "https://" + serviceName + ":8443", TokenFile: file, CA: func() []byte { return w.ca }, Incarnation: 7,
			Identity: report.Identity{Namespace: pod.Namespace, PodName: pod.Name, PodUID: pod.UID},
			Source:   share.Source{Gateway: g}, Plans: planner{g}, Draws: share.Draws{Gateway: g},
			Dial: func(ctx context.Context, _, address string) (net.Conn, error) { return w.dialFrom(ctx, pod, address) },
		})
		must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { client.Run(ctx) })
		holders := func() int {
			return r.Budgets().Routes[ledger.Route{Namespace: "ns", Policy: "support", Provider: "anthropic"}].Holders
		}
		eventually(t, 5*time.Second, "the gateway to draw", func() bool { return holders() == 1 })
		eventually(t, 5*time.Second, "its figures", func() bool {
			f := r.Policy("ns", "support", time.Now())
			return len(f.Limits) == 2 && len(f.Gateways) == 1 && f.Gateways[0].Generation == 1
		})
		time.Sleep(time.Minute)
		if n := r.ignored(t); n["foreign"]+n["old"]+n["fenced"]+n["full"]+n["other"] != 0 || !client.Connected() {
			t.Errorf("connected %v, of its draws were ignored: %v", client.Connected(), n)
		}
		cancel()
		wg.Wait()
		eventually(t, 3*time.Second, "nobody to hold anything", func() bool { return holders() == 0 })
	})
}

// A leader that died leaves its address on the lease for a while.
func TestAnAddressWhereNobodyAnswersIsNotFinal(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
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
