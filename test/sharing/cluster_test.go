// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budgetstore/loop"
	"github.com/headgate-dev/headgate/internal/budgetstore/redisstore"
	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/freeport"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
	"github.com/headgate-dev/headgate/internal/wire"
)

// cluster is what a coordinator asks of Kubernetes: who leads, which pods there are, whose a token is.
type cluster struct {
	t    *testing.T
	cert tls.Certificate
	ca   string

	mu     sync.Mutex
	leader string // an address
	epoch  uint64
	pods   map[figures.Pod]bool
	plans  map[string]*plan.Plan
	// state is what leaders leave to the next one.
	state ledger.State
	// store is where installations share limits, and name this one's there; empty without one.
	store, name string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, pods: map[figures.Pod]bool{}, plans: map[string]*plan.Plan{}}
	c.cert, c.ca = certificate(t)
	return c
}

// replica is a coordinator of its own address.
type replica struct {
	c       *cluster
	address string
	server  *coordinator.Server
	http    *http.Server
	stop    context.CancelFunc
	ended   sync.WaitGroup
	// ran closes when the coordinator has ended.
	ran chan struct{}
	// dead replicas store nothing any longer.
	dead atomic.Bool
}

// start starts a replica at address, a free one if empty; it leads when it is told to.
func (c *cluster) start(address string) *replica {
	c.t.Helper()
	if address == "" {
		address = freeport.For(c.t)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		c.t.Fatal(err)
	}
	r := &replica{c: c, address: listener.Addr().String(), ran: make(chan struct{})}
	r.server = coordinator.New(r.options())
	r.http = coordinator.NewHTTPServer(r.server, func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c.cert, nil })
	r.http.ErrorLog = log.New(io.Discard, "", 0)
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	r.ended.Go(func() {
		defer close(r.ran)
		_ = r.server.Run(ctx)
	})
	r.ended.Go(func() { _ = r.http.ServeTLS(listener, "", "") })
	if c.store != "" {
		r.share(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.plans {
		c.tell(r, p)
	}
	return r
}

// kill ends a replica as a crash does: its connections are cut, what it knew is gone.
func (r *replica) kill() {
	r.dead.Store(true)
	_ = r.http.Close()
	r.retire()
}

// retire ends a replica in order: it says what is there, and gives back its lease.
func (r *replica) retire() {
	r.stop()
	<-r.ran
	r.c.mu.Lock()
	if r.c.leader == r.address {
		r.c.leader = ""
	}
	r.c.mu.Unlock()
	_ = r.http.Close()
	r.ended.Wait()
}

// lead makes a replica the leader.
func (r *replica) lead() {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.c.leader = r.address
	r.c.epoch++
}

// Leader implements coordinator.Leadership.
func (r *replica) Leader() (string, bool) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	return r.c.leader, r.c.leader == r.address
}

// Epoch implements coordinator.Leadership.
func (r *replica) Epoch() uint64 {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	return r.c.epoch
}

// First implements coordinator.Leadership.
func (r *replica) First() bool { return r.Epoch() == 1 }

// Labels implements coordinator.Pods.
func (c *cluster) Labels(pod figures.Pod) (map[string]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]string{"app": "test"}, c.pods[pod]
}

// Gateways implements coordinator.Pods.
func (c *cluster) Gateways(namespace string) (pods []figures.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for pod := range c.pods {
		if pod.Namespace == namespace {
			pods = append(pods, pod)
		}
	}
	return pods
}

// Review implements coordinator.Reviewer: tokens are NAMESPACE/NAME/UID.
func (c *cluster) Review(_ context.Context, token string) (coordinator.Identity, error) {
	part := strings.Split(token, "/")
	if len(part) != 3 {
		return coordinator.Identity{}, errors.New("no token")
	}
	return coordinator.Identity{Pod: figures.Pod{Namespace: part[0], Name: part[1], UID: part[2]}}, nil
}

// admit and remove say which pods there are.
func (c *cluster) admit(pod figures.Pod, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there {
		c.pods[pod] = true
	} else {
		delete(c.pods, pod)
	}
}

// tell gives a replica a plan; mu is held.
func (c *cluster) tell(r *replica, p *plan.Plan) {
	json, err := plan.Encode(*p)
	if err != nil {
		c.t.Fatal(err)
	}
	r.server.SetPlan(p.Namespace, p.Revision, json)
}

// Before implements coordinator.Leadership.
func (r *replica) Before() uint64 { return r.Epoch() - 1 }

// Until implements coordinator.Leadership: whoever leads does until another is told to.
func (r *replica) Until() time.Time { return time.Time{} }

// states are the cluster's as long as a replica lives.
type states struct{ r *replica }

// Load implements coordinator.States.
func (s states) Load(ctx context.Context) (ledger.State, bool, error) { return s.r.c.Load(ctx) }

// Store implements coordinator.States.
func (s states) Store(ctx context.Context, state ledger.State) error {
	if s.r.dead.Load() {
		return errors.New("the replica was killed")
	}
	return s.r.c.Store(ctx, state)
}

// Load implements coordinator.States.
func (c *cluster) Load(context.Context) (ledger.State, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, c.state.Epoch > 0, nil
}

// Store implements coordinator.States.
func (c *cluster) Store(_ context.Context, state ledger.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state.Epoch < c.state.Epoch {
		return errors.New("a later leader stored something")
	}
	c.state = state
	return nil
}

// options are a replica's.
func (r *replica) options() coordinator.Options {
	return coordinator.Options{
		Reviewer: r.c, Leadership: r, Pods: r.c, States: states{r}, Ledger: ledger.Options{External: r.c.store != ""},
	}
}

// share has a replica's pools draw on the store, as the manager does.
func (r *replica) share(ctx context.Context) {
	store, err := redisstore.Open(redisstore.Options{URL: "redis://" + r.c.store, Password: redisserver.Password})
	if err != nil {
		r.c.t.Error(err)
		return
	}
	l := loop.New(loop.Options{Store: store, Owner: owner{r.server}, Name: "manager/" + r.c.name, TTL: wire.LeaseTTL})
	r.ended.Go(func() {
		l.Run(ctx)
		_ = store.Close()
	})
}

// owner implements loop.Owner.
type owner struct{ server *coordinator.Server }

func (o owner) With(ctx context.Context, do func(l *ledger.Ledger, term uint64, now time.Time)) bool {
	return o.server.With(ctx, do)
}
