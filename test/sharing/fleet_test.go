// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/excess"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

const (
	// perMinute and burst are the account's: a burst of two seconds' refill, so that an excess shows.
	perMinute = 1_200_000
	burst     = 40_000
	rate      = perMinute / 60.0
	// chat is a small call.
	chat = 1000
	// warmUp is until grants flow: a coordinated gateway starts with nothing.
	warmUp = 4 * time.Second
)

// long says that a run is for its figures, as make sharing is, and not one of many tests.
func long() bool { return os.Getenv("HEADGATE_SHARING_SECONDS") != "" }

// seconds is how long the measured part of a run is.
func seconds() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("HEADGATE_SHARING_SECONDS")); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 8 * time.Second
}

// fleet is the gateways of a namespace with its coordinator, their provider, and their load.
type fleet struct {
	t          *testing.T
	cluster    *cluster
	replica    *replica
	address    string
	provider   *fakeprovider.Server
	providerCA string
	url        string
	plan       *plan.Plan
	json       string

	mu       sync.Mutex
	gateways []*gateway
	born     int
	// small says that no call is a large one.
	small bool
	// outage is what gateways do that hear nothing; Safe if empty.
	outage string

	calls    sync.WaitGroup
	answered [600]atomic.Int64
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, cluster: newCluster(t)}
	limits := []fakeprovider.Limit{{Budget: fakeprovider.InputTokens, Amount: perMinute, Window: time.Minute, Burst: burst}}
	f.provider = fakeprovider.New(fakeprovider.Options{
		Profiles: map[fakeprovider.Dialect]fakeprovider.Profile{
			fakeprovider.Anthropic: {Limits: limits, Charges: fakeprovider.AsProduced, Guidance: fakeprovider.GuidanceSeconds},
		},
		MaxArrivals: 500_000, FirstByte: 20 * time.Millisecond,
	})
	server := httptest.NewUnstartedServer(f.provider)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	f.providerCA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	f.url = server.URL
	return f
}

// open starts the fleet's coordinator.
func (f *fleet) open() *fleet {
	f.t.Helper()
	f.compile(f.url)
	f.replica = f.cluster.start("")
	f.address = f.replica.address
	f.replica.lead()
	f.t.Cleanup(func() { f.replica.kill() })
	return f
}

// sibling is a fleet of another cluster at the same provider.
func (f *fleet) sibling() *fleet {
	f.t.Helper()
	return &fleet{t: f.t, cluster: newCluster(f.t), provider: f.provider, providerCA: f.providerCA, url: f.url}
}

// compile makes the plan of the fleet's policy.
func (f *fleet) compile(url string) {
	f.t.Helper()
	decoded, err := policy.Decode([]byte(fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: shared, namespace: team-support}
spec:
  maxGateways: 20
  providers:
  - name: anthropic
    baseURL: %s
    outage: %s
    limits:
    - {name: input-tokens, budget: InputTokens, amount: %d, per: Minute, burst: %d}
    deadline: {default: 8s}
    lanes:
    - {name: bulk, match: {minInputTokens: 5000}, reservedPercent: 40, largestCall: 12k}
`, url, cmp.Or(f.outage, "Safe"), perMinute, burst)))
	if err != nil {
		f.t.Fatal(err)
	}
	compiled, _ := policy.Compile(decoded, policy.Inputs{Namespace: "team-support"})
	compiled.Revision, compiled.CoordinatorCA = 1, f.cluster.ca
	compiled.Version = compiled.NeededVersion()
	json, err := plan.Encode(compiled)
	if err != nil {
		f.t.Fatal(err)
	}
	f.plan, f.json = &compiled, string(json)
	f.cluster.plans["team-support"] = f.plan
}

func (f *fleet) coordinatorAddress() string { return f.address }

// scale brings the fleet to n gateways.
func (f *fleet) scale(n int) {
	for f.size() < n {
		f.join()
	}
	for f.size() > n {
		f.last().leave()
	}
}

func (f *fleet) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.gateways)
}

func (f *fleet) last() *gateway {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gateways[len(f.gateways)-1]
}

// offer makes calls at 1.5 times the limit until the function that it returns is called: hot of 100 go to the first
// gateway, the rest to all in turn; one in thirty is a large one.
func (f *fleet) offer(hot int) (stop func()) {
	done := make(chan struct{})
	client := &http.Client{Timeout: dataplane.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	var ended sync.WaitGroup
	ended.Go(func() {
		const large = 10_000
		mean := (29.0*chat + large) / 30
		if f.small {
			mean = chat
		}
		ticker := time.NewTicker(time.Duration(mean / (1.5 * rate) * float64(time.Second)))
		defer ticker.Stop()
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			tokens := chat
			if n%30 == 29 && !f.small {
				tokens = large
			}
			g, url := f.choose(n, hot)
			f.calls.Go(func() {
				status, _ := g.post(client, url, tokens)
				f.answered[min(status, len(f.answered)-1)].Add(1)
			})
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// choose is the gateway of a call.
func (f *fleet) choose(n, hot int) (*gateway, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.gateways[0]
	if n%100 >= hot {
		g = f.gateways[n%len(f.gateways)]
	}
	return g, g.url
}

// measure runs the load while events happen, and judges what arrived: utilisation once grants flow. After the events calls
// must go on; a run that is not long lasts until they do.
func (f *fleet) measure(hot int, length time.Duration, events func()) verdict {
	f.t.Helper()
	stop := f.offer(hot)
	time.Sleep(warmUp)
	from := time.Now()
	events()
	time.Sleep(time.Until(from.Add(length)))
	to := time.Now()
	if !long() {
		f.goesOn()
	}
	stop()
	got := judge(f.provider.Arrivals(), rate, burst, from, to)
	f.t.Logf("%d calls arrived, %d refused by the provider; excess %.2f %% of a minute's amount, utilisation %.3f; answers: %d ok, %d declined, %d failed",
		got.calls, got.throttled, 100*got.excess/perMinute, got.utilisation, f.answered[200].Load(), f.answered[429].Load(), f.answered[0].Load())
	f.calls.Wait()
	got.certain = excess.Certain(f.provider.Arrivals(), rate, burst)
	return got
}

// goesOn waits until more calls are answered.
func (f *fleet) goesOn() {
	f.t.Helper()
	const some = 6
	before := f.answered[http.StatusOK].Load()
	for end := time.Now().Add(dataplane.Patience); f.answered[http.StatusOK].Load() < before+some; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Error("no call is answered any more")
			return
		}
	}
}
