// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"encoding/pem"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/excess"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

const (
	// perMinute and burst are the account's: a burst of three seconds' refill, so that an excess shows.
	perMinute = 600_000
	burst     = 30_000
	rate      = perMinute / 60.0
	// firstByte is how long the provider takes.
	firstByte = 20 * time.Millisecond
	// chat is a small call, bulk a large one.
	chat, bulk = 500, 8000
	// warmUp is until grants flow, and the store counts on no drawer any longer that it does not know.
	warmUp = 17 * time.Second
)

var binary string

// fleets is how many run at once where nothing is measured: they wait most of the time, and so few cores are enough.
const fleets = 6

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(fleets)); err != nil {
		panic(err)
	}
	os.Exit(dataplane.Main(m, &binary))
}

// measured is how many seconds a measured run has; 0 if none was asked for.
func measured() int {
	n, _ := strconv.Atoi(os.Getenv("HEADGATE_SHARING_SECONDS"))
	return max(n, 0)
}

// seconds is how long the judged part of a run is.
func seconds() time.Duration {
	if n := measured(); n > 0 {
		return time.Duration(n) * time.Second
	}
	return 8 * time.Second
}

// utilised is the least part of the rate to be used in a measured run. In others other tests use the machine as well, and
// what a starved gateway does not send is no fault of its shares.
const utilised = 0.98

// atOnce runs a test beside the others, unless it measures: its seconds are real ones, and few of them are busy.
func atOnce(t *testing.T) {
	t.Helper()
	if measured() == 0 {
		t.Parallel()
	}
}

// fleet is gateways that share a store, their provider, and their load.
type fleet struct {
	t        *testing.T
	provider *fakeprovider.Server
	args     []string
	store    *redisserver.Server

	mu       sync.Mutex
	gateways []*dataplane.Gateway

	// waiting are the calls that the provider has not begun to answer.
	waiting waiting

	calls    sync.WaitGroup
	answered [600]atomic.Int64
}

// newFleet starts the provider and the store; url may lead to the store another way, and the policy may have more limits.
func newFleet(t *testing.T, url func(*redisserver.Server) string, more ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, store: redisserver.Start(t)}
	limits := []fakeprovider.Limit{{Budget: fakeprovider.InputTokens, Amount: perMinute, Window: time.Minute, Burst: burst}}
	f.provider = fakeprovider.New(fakeprovider.Options{
		Profiles: map[fakeprovider.Dialect]fakeprovider.Profile{
			fakeprovider.Anthropic: {Limits: limits, Charges: fakeprovider.AsProduced, Guidance: fakeprovider.GuidanceSeconds},
		},
		MaxArrivals: 500_000, FirstByte: firstByte,
	})
	server := httptest.NewUnstartedServer(&f.waiting)
	f.waiting.next = f.provider
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	policy, ca := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "ca.pem")
	f.write(policy, withLimits(fmt.Sprintf(policyYAML, server.URL, perMinute, burst), more))
	f.write(ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	at := f.store.URL()
	if url != nil {
		at = url(f.store)
	}
	f.args = []string{
		"--policy", policy, "--namespace", "team-support", "--ca-file", ca, "--log-level", "info",
		"--budget-store", at, "--budget-store-password-file", f.store.PasswordFile(),
	}
	return f
}

const policyYAML = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: shared, namespace: team-support}
spec:
  maxGateways: 10
  providers:
  - name: anthropic
    baseURL: %s
    limits:
    - {name: input-tokens, budget: InputTokens, amount: %d, per: Minute, burst: %d}
    deadline: {default: 8s}
    lanes:
    - {name: bulk, match: {minInputTokens: 4000}, reservedPercent: 40, largestCall: 9k}
`

func (f *fleet) write(path, text string) {
	f.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// join starts gateways.
func (f *fleet) join(n int) {
	f.t.Helper()
	for range n {
		g := dataplane.Run(f.t, binary, append(f.args, "--budget-store-name", fmt.Sprint("g", f.size()))...)
		f.mu.Lock()
		f.gateways = append(f.gateways, g)
		f.mu.Unlock()
	}
}

func (f *fleet) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.gateways)
}

// load is what is offered.
type load struct {
	// times is of the rate, hot how many of 100 calls go to the first gateway alone, the rest to all in turn.
	times float64
	hot   int
	// large says that one in thirty is a large call.
	large bool
}

// offer makes calls until the function that it returns is called.
func (f *fleet) offer(l load) (stop func()) {
	done := make(chan struct{})
	client := &http.Client{Timeout: dataplane.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	f.t.Cleanup(client.CloseIdleConnections)
	mean := float64(chat)
	if l.large {
		mean = (29.0*chat + bulk) / 30
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		ticker := time.NewTicker(time.Duration(mean / (l.times * rate) * float64(time.Second)))
		defer ticker.Stop()
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			tokens := chat
			if l.large && n%30 == 29 {
				tokens = bulk
			}
			url := f.choose(n, l.hot)
			f.calls.Go(func() { f.answered[f.post(client, url, tokens)].Add(1) })
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

func (f *fleet) choose(n, hot int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n%100 < hot {
		return f.gateways[0].URL
	}
	return f.gateways[n%len(f.gateways)].URL
}

// post makes one call and returns its status, 0 if it failed.
func (f *fleet) post(client *http.Client, url string, tokens int) int {
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":4,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("ab ", tokens))
	r, err := http.NewRequest(http.MethodPost, url+"/anthropic/v1/messages", strings.NewReader(body))
	if err != nil {
		return 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", "sk-of-the-app")
	// A connection that was made for another call and never used is closed by the gateway after a while, and a busy client may
	// choose it before it hears of that. An empty list has net/http try once more there, and is not sent.
	r.Header["Idempotency-Key"] = []string{}
	r.Header.Set("X-Fake-Input-Tokens", strconv.Itoa(tokens))
	excess.Stamp(r.Header, time.Now())
	resp, err := client.Do(r)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return min(resp.StatusCode, len(f.answered)-1)
}

// measure runs the load while events happen, and judges what arrived: utilisation once grants flow. After the events calls
// must go on; where nothing is measured the load lasts until they do.
func (f *fleet) measure(l load, length time.Duration, events func()) verdict {
	f.t.Helper()
	stop := f.offer(l)
	time.Sleep(warmUp)
	from := time.Now()
	if events != nil {
		events()
	}
	time.Sleep(time.Until(from.Add(length)))
	to := time.Now()
	if measured() == 0 {
		f.goesOn()
	}
	stop()
	got := judge(f.provider.Arrivals(), rate, burst, from, to)
	f.t.Logf("%d calls arrived, %d refused by the provider; excess %.2f %% of a minute's amount, utilisation %.3f, %.0f a second of %.0f; answers: %d ok, %d declined, %d failed",
		got.calls, got.throttled, 100*got.excess/perMinute, got.utilisation, got.perSecond, rate,
		f.answered[200].Load(), f.answered[429].Load(), f.answered[0].Load())
	f.calls.Wait()
	got.certain = excess.Certain(f.provider.Arrivals(), rate, burst)
	return got
}

// goesOn waits until more calls are answered.
func (f *fleet) goesOn() {
	f.t.Helper()
	before := f.answered[http.StatusOK].Load()
	for end := time.Now().Add(dataplane.Patience); f.answered[http.StatusOK].Load() <= before+fleets; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Error("no call is answered any more")
			return
		}
	}
}

// conforms fails if an interval saw more than a hundredth of a minute's amount above the bound.
func (f *fleet) conforms(got verdict) {
	f.t.Helper()
	above := got.certain
	if measured() > 0 {
		above = got.excess
	}
	if above > perMinute/100 {
		f.t.Errorf("an interval saw %.0f above burst and refill, %.2f %% of a minute's amount", above, 100*above/perMinute)
	}
}
