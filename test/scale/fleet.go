// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/certs"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/drawer"
)

// makers make pods and tokens at once.
const makers = 16

// fleet is the gateways that there are.
type fleet struct {
	cluster  *cluster
	settings settings
	ctx      context.Context //nolint:containedctx // the gateways' lives
	cancel   context.CancelFunc
	group    sync.WaitGroup
	drawers  []*drawer.Drawer
	up, down atomic.Int64
	spent    atomic.Int64

	mu       sync.Mutex
	answered []time.Duration
	// acknowledged is when each gateway did, since it was last emptied.
	acknowledged []time.Time
}

func newFleet(c *cluster, s settings) *fleet {
	f := &fleet{cluster: c, settings: s}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

func (f *fleet) stop() {
	f.cancel()
	f.group.Wait()
}

// grow makes pods until there are n, and starts their gateways.
func (f *fleet) grow(ctx context.Context, n int) error {
	from := len(f.drawers)
	f.drawers = append(f.drawers, make([]*drawer.Drawer, n-from)...)
	next, failed := atomic.Int64{}, make(chan error, makers)
	next.Store(int64(from))
	var making sync.WaitGroup
	for range makers {
		making.Go(func() {
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				d, err := f.make(ctx, i)
				if err != nil {
					failed <- err
					return
				}
				f.drawers[i] = d
			}
		})
	}
	making.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	return f.start(ctx, f.drawers[from:])
}

// joining is how many gateways may be on their way at once: a rollout brings no more. All at once only the handshakes of
// thousands keep two cores busy for longer than any of them waits.
const joining = 100

// start starts gateways, each when another has been granted something.
func (f *fleet) start(ctx context.Context, drawers []*drawer.Drawer) error {
	waiting := drawers[:0:0]
	for _, d := range drawers {
		for waiting = append(waiting, d); len(waiting) >= joining; {
			waiting = slices.DeleteFunc(waiting, func(d *drawer.Drawer) bool { return d.Leased() })
			if len(waiting) >= joining && !pause(ctx, 10*time.Millisecond) {
				return ctx.Err()
			}
		}
		f.group.Go(func() { d.Run(f.ctx) })
	}
	return nil
}

// make makes a pod that only the API server knows, and its gateway with a token bound to it.
func (f *fleet) make(ctx context.Context, i int) (*drawer.Drawer, error) {
	automount := false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName(i % f.settings.namespaces), Name: fmt.Sprintf("app-%05d", i)},
		Spec: corev1.PodSpec{
			ServiceAccountName: "app", AutomountServiceAccountToken: &automount,
			Containers: []corev1.Container{{Name: "app", Image: "app"}, {Name: sidecar.ContainerName, Image: "gateway"}},
		},
	}
	if err := f.cluster.client.Create(ctx, pod); err != nil {
		return nil, fmt.Errorf("make a pod: %w", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences:      []string{sidecar.TokenAudience},
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: "app"}}
	if err := f.cluster.client.SubResource("token").Create(ctx, sa, request); err != nil {
		return nil, fmt.Errorf("make a token: %w", err)
	}
	return drawer.New(drawer.Options{
		URL: fmt.Sprintf("https://%s.%s.svc:9443", certs.CoordinatorService, system), CA: f.cluster.ca, Dial: f.dial,
		Token: request.Status.Token, Namespace: pod.Namespace, Pod: pod.Name, UID: string(pod.UID),
		Policy: policyName, Provider: "anthropic", Fresh: true,
		Load: drawer.Load{PerSecond: f.settings.perSecond, Tokens: f.settings.tokens},
		Heard: drawer.Heard{
			Answered: f.answer, Acknowledged: f.acknowledge,
			Spent: func(limit string, units float64, _ time.Time) {
				if limit == accountName+":input-tokens" {
					f.spent.Add(int64(units))
				}
			},
		},
	}), nil
}

func (f *fleet) answer(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered = append(f.answered, d)
}

func (f *fleet) acknowledge(_ int64, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acknowledged = append(f.acknowledged, at)
}

// leased counts the gateways that may spend what they were granted.
func (f *fleet) leased() (n int) {
	for _, d := range f.drawers {
		if d.Leased() {
			n++
		}
	}
	return n
}

// dial reaches the manager, whatever the name, and counts what goes over the connection.
func (f *fleet) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(ctx, network, f.cluster.manager.coordinator)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn, fleet: f}, nil
}

// counted counts bytes as they are on the wire, TLS included.
type counted struct {
	net.Conn
	fleet *fleet
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.fleet.down.Add(int64(n))
	return n, err
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.fleet.up.Add(int64(n))
	return n, err
}
