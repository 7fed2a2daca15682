// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/wire"
)

// raw is a client that says what it likes.
type raw struct {
	*connect.BidiStreamForClient[wire.Up, wire.Down]
	close func()
}

func (w *world) raw(token string) raw { return w.rawFrom(figures.Pod{}, token) }

// rawFrom is one at a pod's address.
func (w *world) rawFrom(pod figures.Pod, token string) raw {
	w.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.ca)
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: serviceName},
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return w.dialFrom(ctx, pod, address)
		},
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}, // of what it does not read
	}
	ctx, cancel := context.WithCancel(context.Background())
	stream := wire.NewReportsClient(&http.Client{Transport: transport}, "https://"+serviceName+":8443").Connect(ctx)
	if token != "" {
		stream.RequestHeader().Set("Authorization", "Bearer "+token)
	}
	return raw{stream, func() { cancel(); transport.CloseIdleConnections() }}
}

func token(p figures.Pod) string {
	return strings.Join([]string{p.Namespace, p.Name, p.UID, canary.Key("token")}, "/")
}

func hello(p figures.Pod) *wire.Up {
	return &wire.Up{Message: &wire.Up_Hello{Hello: &wire.Hello{
		Namespace: p.Namespace, PodName: p.Name, PodUid: p.UID, Incarnation: 1, Version: "v1",
	}}}
}

func reportOf(routes ...*wire.RouteReport) *wire.Up {
	return &wire.Up{Message: &wire.Up_Report{Report: &wire.Report{UptimeMillis: 1, Routes: routes}}}
}

// end sends messages and returns the code that the stream ends with.
func (r raw) end(messages ...*wire.Up) connect.Code {
	for _, m := range messages {
		if r.Send(m) != nil {
			break
		}
	}
	for {
		if _, err := r.Receive(); err != nil {
			return connect.CodeOf(err)
		}
	}
}

// E12: the identity is the token's, whatever the hello says.
func TestE12ForgedNamesAreRefused(t *testing.T) {
	pod := figures.Pod{Namespace: "ns", Name: "a", UID: "uid-a"}
	for name, tc := range map[string]struct {
		token string
		hello figures.Pod
		want  connect.Code
	}{
		"another pod's name":   {token(pod), figures.Pod{Namespace: "ns", Name: "b", UID: "uid-a"}, connect.CodePermissionDenied},
		"another pod's UID":    {token(pod), figures.Pod{Namespace: "ns", Name: "a", UID: "uid-b"}, connect.CodePermissionDenied},
		"another namespace":    {token(pod), figures.Pod{Namespace: "other", Name: "a", UID: "uid-a"}, connect.CodePermissionDenied},
		"no token":             {"", pod, connect.CodeUnauthenticated},
		"a token of something": {"rubbish-" + canary.Key("token"), pod, connect.CodeUnauthenticated},
		"an endless token":     {strings.Repeat("x", 20<<10), pod, connect.CodeUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w, r := running(t)
				defer r.kill()
				w.pod("ns", "a", nil)
				c := w.raw(tc.token)
				defer c.close()
				if got := c.end(hello(tc.hello), reportOf()); got != tc.want {
					t.Errorf("the stream ended with %v, want %v", got, tc.want)
				}
				if got := r.Reporting("ns"); len(got) != 0 {
					t.Errorf("it counts as %v", got)
				}
			})
		})
	}
}

func TestBadMessagesEndTheStream(t *testing.T) {
	pod := figures.Pod{Namespace: "ns", Name: "a", UID: "uid-a"}
	routes := make([]*wire.RouteReport, wire.MaxRoutes+1)
	limits := make([]*wire.LimitReport, wire.MaxLimits+1)
	for i := range routes {
		routes[i] = &wire.RouteReport{}
	}
	for i := range limits {
		limits[i] = &wire.LimitReport{}
	}
	refused := map[string]uint64{}
	for i := range 100 {
		refused[fmt.Sprint(i)] = 1
	}
	flood := []*wire.Up{hello(pod)}
	for range 1000 {
		flood = append(flood, reportOf())
	}
	long := hello(pod)
	long.GetHello().Version = strings.Repeat("v", 1000)
	for name, tc := range map[string]struct {
		messages []*wire.Up
		want     connect.Code
	}{
		"no hello first":   {[]*wire.Up{reportOf()}, connect.CodeInvalidArgument},
		"nothing at all":   {[]*wire.Up{{}}, connect.CodeInvalidArgument},
		"a second hello":   {[]*wire.Up{hello(pod), hello(pod)}, connect.CodeInvalidArgument},
		"too many routes":  {[]*wire.Up{hello(pod), reportOf(routes...)}, connect.CodeInvalidArgument},
		"too many limits":  {[]*wire.Up{hello(pod), reportOf(&wire.RouteReport{Limits: limits})}, connect.CodeInvalidArgument},
		"too many reasons": {[]*wire.Up{hello(pod), reportOf(&wire.RouteReport{Lanes: []*wire.LaneReport{{Refused: refused}}})}, connect.CodeInvalidArgument},
		"a huge report":    {[]*wire.Up{hello(pod), reportOf(&wire.RouteReport{StateMessage: string(bytes.Repeat([]byte{'x'}, 2<<20))})}, connect.CodeResourceExhausted},
		"a long version":   {[]*wire.Up{long}, connect.CodeInvalidArgument},
		"a flood":          {flood, connect.CodeResourceExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w, r := running(t)
				defer r.kill()
				w.pod("ns", "a", nil)
				c := w.raw(token(pod))
				defer c.close()
				if got := c.end(tc.messages...); got != tc.want {
					t.Errorf("the stream ended with %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestSilentStreamsEnd(t *testing.T) {
	pod := figures.Pod{Namespace: "ns", Name: "a", UID: "uid-a"}
	for name, tc := range map[string]struct {
		messages []*wire.Up
		within   time.Duration
	}{
		"nothing after the hello": {[]*wire.Up{hello(pod)}, 40 * time.Second},
		"nothing after a report":  {[]*wire.Up{hello(pod), reportOf()}, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w, r := running(t)
				defer r.kill()
				w.pod("ns", "a", nil)
				c := w.raw(token(pod))
				defer c.close()
				began := time.Now()
				if got := c.end(tc.messages...); got != connect.CodeDeadlineExceeded || time.Since(began) > tc.within {
					t.Errorf("the stream ended with %v after %v", got, time.Since(began))
				}
			})
		})
	}
}

// A gateway that reads nothing costs its own stream, and delays nobody else.
func TestAGatewayThatReadsNothingIsCutOff(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		big := testPlan("ns", 2)
		for i := range 900 { // a plan that does not fit a window
			p := big.Policies[0]
			p.Name = fmt.Sprintf("%s-%04d", strings.Repeat("x", 50), i)
			big.Policies = append(big.Policies, p)
		}
		r.setPlan(big)
		pod := w.pod("ns", "deaf", nil)
		c := w.raw(token(pod))
		defer c.close()
		must(t, c.Send(hello(pod)))
		other := w.join(w.pod("ns", "a", nil))
		defer other.leave()
		eventually(t, 5*time.Second, "the plan at another", func() bool { return other.Revision() == 2 })
		var err error
		for began := time.Now(); err == nil && time.Since(began) < time.Minute; time.Sleep(time.Second) {
			err = c.Send(reportOf())
		}
		if err == nil {
			t.Error("its stream lives on")
		}
	})
}

func TestAbsurdNumbersAreHarmless(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		pod := w.pod("ns", "a", nil)
		c := w.raw(token(pod))
		defer c.close()
		must(t, c.Send(hello(pod)))
		for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.MaxFloat64} {
			must(t, c.Send(reportOf(&wire.RouteReport{
				Policy: "support", Provider: "anthropic", Sends: math.MaxUint64, LargestTooLarge: math.MaxUint64,
				Limits: []*wire.LimitReport{{Name: "tokens", Level: v, Spent: v, Offered: v, Reserved: v, Capacity: v}, {Name: "in-flight", Reserved: v}},
				Lanes:  []*wire.LaneReport{{Name: "default", LargestCallTokens: v, Sent: uint64(i)}},
			})))
		}
		for range 10 {
			time.Sleep(time.Second)
			must(t, c.Send(reportOf()))
		}
		for _, l := range r.Policy("ns", "support", time.Now()).Limits {
			if used := l.Used.Per(time.Minute); math.IsNaN(used) || math.IsInf(used, 0) || used < 0 {
				t.Errorf("used %v", used)
			}
		}
	})
}

// Only one stream counts for a pod, the newest.
func TestANewerStreamReplacesTheOlder(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		pod := w.pod("ns", "a", nil)
		older, newer := w.raw(token(pod)), w.raw(token(pod))
		defer older.close()
		defer newer.close()
		must(t, older.Send(hello(pod)))
		must(t, older.Send(reportOf()))
		time.Sleep(time.Second)
		must(t, newer.Send(hello(pod)))
		if got := older.end(); got != connect.CodeAborted {
			t.Errorf("the older ended with %v", got)
		}
		if _, err := newer.Receive(); err != nil {
			t.Errorf("the newer ended: %v", err)
		}
	})
}

func TestAPodThatReconnectsInALoopIsRefused(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		pod := w.pod("ns", "a", nil)
		refused := 0
		for range 30 {
			c := w.raw(token(pod))
			must(t, c.Send(hello(pod)))
			if _, err := c.Receive(); connect.CodeOf(err) == connect.CodeResourceExhausted && err != nil {
				refused++
			}
			c.close()
		}
		if refused == 0 {
			t.Error("all were let in")
		}
	})
}

func TestStreamsEndWithTheirPodAndToken(t *testing.T) {
	t.Run("pod", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			w, r := running(t)
			defer r.kill()
			pod := w.pod("ns", "a", nil)
			c := w.raw(token(pod))
			defer c.close()
			must(t, c.Send(hello(pod)))
			must(t, c.Send(reportOf()))
			time.Sleep(time.Second)
			w.mu.Lock()
			delete(w.pods, pod)
			w.mu.Unlock()
			began := time.Now()
			if got := c.end(); got != connect.CodeFailedPrecondition || time.Since(began) > 10*time.Second {
				t.Errorf("the stream ended with %v after %v", got, time.Since(began))
			}
			if got := r.Reporting("ns"); len(got) != 0 {
				t.Errorf("%v still report", got)
			}
		})
	})
	t.Run("token that is not replaced", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			w, r := running(t)
			defer r.kill()
			pod := w.pod("ns", "a", nil)
			began := time.Now()
			w.mu.Lock()
			w.expires = began.Add(20 * time.Second)
			w.mu.Unlock()
			c := w.raw(token(pod))
			defer c.close()
			must(t, c.Send(hello(pod)))
			ended := make(chan connect.Code, 1)
			go func() { ended <- c.end() }()
			for {
				select {
				case code := <-ended:
					if took := time.Since(began); code != connect.CodeUnauthenticated || took < 19*time.Second || took > 25*time.Second {
						t.Errorf("it ended with %v after %v", code, took)
					}
					return
				case <-time.After(time.Second):
					_ = c.Send(reportOf()) // it is not silence that ends it
				}
				if time.Since(began) > time.Minute {
					t.Fatal("it goes on without a token")
				}
			}
		})
	})
	t.Run("token", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			w, r := running(t)
			defer r.kill()
			g := w.join(w.pod("ns", "a", nil))
			defer g.leave()
			w.mu.Lock()
			w.expires = time.Now().Add(20 * time.Second)
			w.mu.Unlock()
			h := w.join(w.pod("ns", "b", nil))
			defer h.leave()
			time.Sleep(19 * time.Second)
			w.mu.Lock()
			w.expires = time.Now().Add(time.Hour) // the kubelet has put a new one in place
			w.mu.Unlock()
			for range 40 {
				time.Sleep(500 * time.Millisecond)
				if n := len(r.Reporting("ns")); n != 2 {
					t.Fatalf("with the token %d of 2 gateways were lost", 2-n)
				}
			}
			if !h.Connected() {
				t.Error("it did not come back")
			}
		})
	})
}

// A namespace's bound is below that of all, so that no tenant takes everybody's places.
func TestStreamsAreBounded(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.start("a", coordinator.Bounds{Streams: 4, NamespaceStreams: 2}, nil)
		defer r.kill()
		w.lead("a")
		for _, tc := range []struct {
			pod  figures.Pod
			want connect.Code
		}{
			{w.pod("ns", "a", nil), 0},
			{w.pod("ns", "b", nil), 0},
			{w.pod("ns", "c", nil), connect.CodeResourceExhausted},
			{w.pod("other", "a", nil), 0},
			{w.pod("other", "b", nil), 0},
			{w.pod("third", "a", nil), connect.CodeResourceExhausted},
		} {
			c := w.raw(token(tc.pod))
			defer c.close()
			must(t, c.Send(hello(tc.pod)))
			ended := make(chan connect.Code, 1)
			go func() { ended <- c.end() }()
			var got connect.Code
			select {
			case got = <-ended:
			case <-time.After(5 * time.Second):
			}
			if got != tc.want {
				t.Errorf("the stream of %s/%s ended with %v, want %v", tc.pod.Namespace, tc.pod.Name, got, tc.want)
			}
		}
	})
}
