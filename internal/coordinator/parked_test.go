// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/wire"
)

// crowd are streams that begin again whenever they end, all from one address.
type crowd struct {
	// most is how many were open at once.
	now, most atomic.Int64
	leave     func()
}

// perConnection are the streams that a connection carries at once.
const perConnection = 8

func (w *world) crowd(n int, token string) *crowd {
	w.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.ca)
	ctx, cancel := context.WithCancel(w.t.Context())
	c := &crowd{}
	var all sync.WaitGroup
	var transports []*http.Transport
	for range n / perConnection {
		protocols := &http.Protocols{}
		protocols.SetHTTP2(true)
		transport := &http.Transport{
			Protocols: protocols, DialContext: w.dial, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: serviceName},
		}
		transports = append(transports, transport)
		client := wire.NewReportsClient(&http.Client{Transport: transport}, "https://"+serviceName+":8443")
		for range perConnection {
			all.Go(func() {
				for ctx.Err() == nil {
					c.stream(ctx, client, token)
				}
			})
		}
	}
	c.leave = func() {
		cancel()
		all.Wait()
		for _, t := range transports {
			t.CloseIdleConnections()
		}
	}
	return c
}

// stream is one of the crowd, until it is sent away.
func (c *crowd) stream(ctx context.Context, client wire.ReportsClient, token string) {
	stream := client.Connect(ctx)
	if token != "" {
		stream.RequestHeader().Set("Authorization", "Bearer "+token)
	}
	c.most.Store(max(c.most.Load(), c.now.Add(1)))
	defer c.now.Add(-1)
	if stream.Send(nil) == nil { // the headers alone
		_, _ = stream.Receive()
	}
	_ = stream.CloseRequest()
	_ = stream.CloseResponse()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
	}
}

// slowReviewer is an API server that takes its time.
type slowReviewer struct{ *world }

// Review implements coordinator.Reviewer.
func (r slowReviewer) Review(ctx context.Context, token string) (coordinator.Identity, error) {
	time.Sleep(100 * time.Millisecond)
	return r.world.Review(ctx, token)
}

// TestStrangersTakeNoGatewaysPlace: nobody leads, and a thousand streams of who has no token, or one that is none, or hundreds with
// that of one pod, come at once. The gateway of another pod has a place at once, and is served as soon as somebody leads.
func TestStrangersTakeNoGatewaysPlace(t *testing.T) {
	for by, tc := range map[string]struct {
		most  int
		token func(w *world) string
	}{
		"without a token": {manyGateways, func(*world) string { return "" }},
		"with some text":  {manyGateways, func(*world) string { return "rubbish-" + canary.Key("token") }},
		"of one pod":      {manyGateways / 5 / perConnection * perConnection, func(w *world) string { return token(w.pod("other", "busy", nil)) }},
	} {
		t.Run(by, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				defer time.Sleep(time.Second) // of the last reviews
				w := newWorld(t)
				w.reviewer = slowReviewer{w}
				a := w.start("a", coordinator.Bounds{Streams: manyGateways, NamespaceStreams: manyGateways / 10, Reviews: 4}, nil)
				defer a.kill()
				a.setPlan(drawPlan("ns", 1))
				strangers := w.crowd(tc.most, tc.token(w))
				defer strangers.leave()
				time.Sleep(time.Second)
				pod := w.pod("ns", name(0), nil)
				c := w.rawFrom(pod, token(pod))
				defer c.close()
				_ = c.Send(hello(pod)) // or it was sent away already
				told := make(chan error, 1)
				go func() { _, err := c.Receive(); told <- err }()
				time.Sleep(time.Second)
				select {
				case err := <-told:
					t.Fatalf("it has no place: %v", err)
				default:
				}
				w.lead("a")
				time.Sleep(time.Second)
				select {
				case err := <-told:
					must(t, err)
				default:
					t.Error("a second after the replica began to lead its gateway was not served")
				}
				if n := strangers.most.Load(); n < int64(tc.most) {
					t.Errorf("only %d strangers came at once", n)
				}
			})
		})
	}
}

// TestPlacesAreBoundedByNamespace: those of one namespace do not take all, and the newest of a pod has the pod's.
func TestPlacesAreBoundedByNamespace(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.start("a", coordinator.Bounds{Streams: 4, NamespaceStreams: 3}, nil)
		defer a.kill()
		ended := map[string]chan error{}
		come := func(as, namespace, pod string) {
			c := w.raw(token(w.pod(namespace, pod, nil)))
			t.Cleanup(c.close)
			end := make(chan error, 1)
			ended[as] = end
			_ = c.Send(hello(w.pod(namespace, pod, nil))) // or it was sent away already
			go func() { _, err := c.Receive(); end <- err }()
			time.Sleep(200 * time.Millisecond)
		}
		come("first", "ns", "a")
		come("second", "ns", "b")
		come("third", "ns", "c")
		come("one too many of its namespace", "ns", "d")
		come("the first again", "ns", "a")
		come("another namespace's", "other", "a")
		come("one too many of all", "third", "a")
		want := map[string]string{
			"first": errReplacedText, "one too many of its namespace": errTooManyText, "one too many of all": errTooManyText,
		}
		for as, end := range ended {
			select {
			case err := <-end:
				if want[as] == "" || err == nil || err.Error() != want[as] {
					t.Errorf("%s: %v, want %q", as, err, want[as])
				}
			default:
				if want[as] != "" {
					t.Errorf("%s waits", as)
				}
			}
		}
	})
}

const (
	errReplacedText = "aborted: a newer stream of this pod replaced this one"
	errTooManyText  = "resource_exhausted: too many gateways are connected"
)

// slowly reviews as the world does, after a time.
type slowly struct {
	*world
	takes time.Duration
}

// Review implements coordinator.Reviewer.
func (s slowly) Review(ctx context.Context, token string) (coordinator.Identity, error) {
	time.Sleep(s.takes)
	return s.world.Review(ctx, token)
}

// TestWhoWasReviewedSlowlyMayStillWait: the time for a review is not taken from the wait for a leader after it. A gateway waits for
// all of it on the one connection that it dialled.
func TestWhoWasReviewedSlowlyMayStillWait(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		w.reviewer = slowly{w, 9 * time.Second}
		r := w.start("a", coordinator.Bounds{}, nil)
		defer r.kill()
		w.lead("")
		r.setPlan(testPlan("ns", 1))
		f := &fleet{world: w}
		defer f.leave()
		f.join(w.pod("ns", "beside", nil))
		time.Sleep(18 * time.Second)
		w.lead("a")
		f.connected()
		if n := f.dials.Load(); n != int64(len(f.all)) {
			t.Errorf("%d gateways dialled %d times", len(f.all), n)
		}
	})
}
