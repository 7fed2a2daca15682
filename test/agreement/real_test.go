// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package agreement

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// stream is calls at an even pace, as in the workload.
type stream struct {
	name     string
	every    time.Duration
	tokens   int
	deadline time.Duration
}

// called is one call made.
type called struct {
	id, stream string
	began      time.Time
	late       time.Duration // how much after its time
	status     int
	ended      time.Time
}

// figures are what is compared, of a stream or of the provider.
type figures struct {
	offered, succeeded int
	median             float64
}

// measured is one run in real time.
type measured struct {
	streams     map[string]figures
	utilisation float64
	throttled   int64
	// late is how much after their times nearly all callers called.
	late time.Duration
}

// provider are the options of the simulated provider.
func (c *comparison) provider() fakeprovider.Options {
	return fakeprovider.Options{
		Profiles:  map[fakeprovider.Dialect]fakeprovider.Profile{fakeprovider.Anthropic: {Limits: c.limits}},
		FirstByte: callTime,
	}
}

// measure runs the gateway's binary and the streams for a time.
func measure(t *testing.T, c *comparison) measured {
	t.Helper()
	g := dataplane.Start(t, binary, dataplane.Options{
		Provider: c.provider(),
		Policy:   func(url string) string { return fmt.Sprintf(c.policy, url) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	defer client.CloseIdleConnections()
	calls := &callers{t: t, url: g.URL + "/anthropic/v1/messages", client: client}
	return calls.during(ctx, c, g.Provider, cancel)
}

// during makes the streams' calls for their time, and sums up.
func (c *callers) during(ctx context.Context, of *comparison, provider *fakeprovider.Server, end func()) measured {
	began := time.Now()
	for i, s := range of.streams {
		// In the simulator's order, where calls of several streams are due at once.
		c.running.Go(func() { c.stream(ctx, s, began.Add(time.Duration(i)*time.Millisecond), of.duration) })
	}
	time.Sleep(time.Until(began.Add(of.duration)))
	stats := provider.Stats()
	end()
	c.running.Wait()
	return of.sumUp(c.made, provider.Arrivals(), stats, began.Add(of.duration))
}

// callers make calls and keep what became of them.
type callers struct {
	t       *testing.T
	url     string
	client  *http.Client
	running sync.WaitGroup

	mu   sync.Mutex
	made []called
}

func (c *callers) stream(ctx context.Context, s stream, began time.Time, duration time.Duration) {
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":4,"messages":[{"role":"user","content":%q}]}`,
		strings.Repeat("ab ", s.tokens)) // three bytes are a token by the gateway's estimate
	for i := range int(duration / s.every) {
		due := began.Add(time.Duration(i) * s.every)
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return
		}
		c.running.Go(func() { c.call(ctx, s, fmt.Sprintf("%s-%d", s.name, i), body, due) })
	}
}

func (c *callers) call(ctx context.Context, s stream, id, body string, due time.Time) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Api-Key": "sk-c4n4ryKey-of-the-app-c4n4ryKey", "X-Request-Id": id,
		"X-Fake-Input-Tokens": strconv.Itoa(s.tokens), "Headgate-Deadline": s.deadline.String(),
	} {
		req.Header.Set(name, value)
	}
	out := called{id: id, stream: s.name, began: time.Now()}
	out.late = out.began.Sub(due)
	if resp, err := c.client.Do(req); err == nil {
		_ = resp.Body.Close()
		out.status, out.ended = resp.StatusCode, time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, out)
}

// sumUp counts what was over by the end.
func (c *comparison) sumUp(made []called, arrivals []fakeprovider.Arrival, stats fakeprovider.Stats, end time.Time) measured {
	sent := map[string]time.Time{}
	for _, a := range arrivals {
		if a.Verdict == "Admitted" {
			sent[a.Headers["x-request-id"]] = time.Unix(0, a.TimeUnixNano)
		}
	}
	out := measured{streams: map[string]figures{}, throttled: stats.Throttled}
	waits := map[string][]float64{}
	late := make([]time.Duration, 0, len(made))
	for _, call := range made {
		f := out.streams[call.stream]
		f.offered++
		late = append(late, call.late)
		if call.status == http.StatusOK && call.ended.Before(end) {
			f.succeeded++
			waits[call.stream] = append(waits[call.stream], sent[call.id].Sub(call.began).Seconds())
		}
		out.streams[call.stream] = f
	}
	for name, all := range waits {
		slices.Sort(all)
		f := out.streams[name]
		f.median = all[(len(all)-1)/2]
		out.streams[name] = f
	}
	slices.Sort(late)
	out.late = late[len(late)*98/100]
	for _, a := range stats.Accounts {
		for _, b := range a.Budgets {
			out.utilisation = max(out.utilisation, b.UtilisationShare)
		}
	}
	return out
}
