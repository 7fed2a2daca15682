// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/drawer"
)

const (
	drawnRate  = 1000.0 // tokens a second
	drawnBurst = 10_000.0
)

// drawPlan has one policy with 60,000 tokens a minute and a burst that bites: ten seconds of them.
func drawPlan(namespace string, revision int64) plan.Plan {
	p := testPlan(namespace, revision)
	limits := p.Policies[0].Routes[0].Limits
	limits[0].Amount, limits[0].Burst = 60*drawnRate, drawnBurst
	limits[1].Amount, limits[1].Burst = 100, 100
	p.Policies[0].MaxGateways = 20
	return p
}

// provider counts what arrives there.
type provider struct {
	mu    sync.Mutex
	rate  float64
	burst float64
	level float64
	worst float64
	at    time.Time
	total float64
	by    map[string]float64
}

func newProvider() *provider {
	return &provider{rate: drawnRate, burst: drawnBurst, at: time.Now(), by: map[string]float64{}}
}

// arrive notes a call: level is the most that came in any interval until now beyond what the rate brought in it.
func (p *provider) arrive(from, limit string, units float64, at time.Time) {
	if limit != "tokens" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.level = max(0, p.level-p.rate*max(0, at.Sub(p.at).Seconds())) + units
	p.at = at
	p.worst = max(p.worst, p.level)
	p.total += units
	p.by[from] += units
}

// excess is maxExcess: how much more came in any interval than burst and rate allow.
func (p *provider) excess() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.worst - p.burst
}

// over is what came while f ran, as a part of what the rate brings in that time.
func (p *provider) over(f func()) float64 {
	p.mu.Lock()
	before, began := p.total, time.Now()
	p.mu.Unlock()
	f()
	p.mu.Lock()
	defer p.mu.Unlock()
	return (p.total - before) / (p.rate * time.Since(began).Seconds())
}

// drawing is a gateway that draws, in a world.
type drawing struct {
	*drawer.Drawer
	pod   figures.Pod
	stop  context.CancelFunc
	ended chan struct{}
}

// draw starts a gateway in a pod.
func (w *world) draw(pod figures.Pod, p *provider, load drawer.Load, prepare ...func(*drawer.Options)) *drawing {
	w.t.Helper()
	opts := drawer.Options{
		URL: "https://" + serviceName + ":8443", CA: w.ca, Token: token(pod),
		Dial:      func(ctx context.Context, _, address string) (net.Conn, error) { return w.dialFrom(ctx, pod, address) },
		Namespace: pod.Namespace, Pod: pod.Name, UID: pod.UID, Policy: "support", Provider: "anthropic", Fresh: true, Load: load,
		Heard: drawer.Heard{Spent: func(limit string, units float64, at time.Time) { p.arrive(pod.Name, limit, units, at) }},
	}
	for _, f := range prepare {
		f(&opts)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &drawing{Drawer: drawer.New(opts), pod: pod, stop: cancel, ended: make(chan struct{})}
	go func() { defer close(d.ended); d.Run(ctx) }()
	return d
}

func (d *drawing) leave() { d.stop(); <-d.ended }

func leaveDrawings(all []*drawing) {
	for _, d := range all {
		d.leave()
	}
}

// drawn is a world with one leading replica, the first ever, and a plan to draw on.
func drawn(t *testing.T) (*world, *replica, *provider) {
	t.Helper()
	w := newWorld(t)
	w.first = true
	r := w.start("a", coordinator.Bounds{}, nil)
	w.lead("a")
	r.setPlan(drawPlan("ns", 1))
	time.Sleep(time.Second)
	return w, r, newProvider()
}

// small is a load of small calls of so many tokens a second.
func small(tokensPerSecond float64) drawer.Load {
	return drawer.Load{Tokens: 100, PerSecond: tokensPerSecond / 100}
}

// someone starts when no other one of its kind does.
func someone(i int) { time.Sleep(time.Duration(i*107%300) * time.Millisecond) }
