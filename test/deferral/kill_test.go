// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferral

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// TestKilledAtAnyMomentNoCallIsLostOrMadeTwice: the gateway is killed again and again while it takes calls in and makes
// them; in the end every ticket has its answer, and the provider has processed each key once.
func TestKilledAtAnyMomentNoCallIsLostOrMadeTwice(t *testing.T) {
	s := newSite(t, fakeprovider.Options{FirstByte: 40 * time.Millisecond}, 1200, "")
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	tickets := map[string]bool{}
	// On a slow machine few calls are made between two kills.
	for round, end := 0, time.Now().Add(patience); round < 12 || len(tickets) < 10 && time.Now().Before(end); round++ {
		p := s.start()
		until := time.Now().Add(time.Duration(100+random.IntN(900)) * time.Millisecond)
		killed := make(chan struct{})
		go func() { defer close(killed); time.Sleep(time.Until(until)); p.end(syscall.SIGKILL) }()
		for time.Now().Before(until) {
			// No time at all: every call whose turn it is not is deferred, and it is the turn of one of those made at once.
			var asked sync.WaitGroup
			for range 3 {
				asked.Go(func() {
					if a := p.ask("Headgate-Deadline", "0s"); a.err == nil && a.status == http.StatusAccepted {
						mu.Lock()
						defer mu.Unlock()
						tickets[a.header.Get("Location")] = true
					}
				})
			}
			asked.Wait()
			time.Sleep(50 * time.Millisecond)
		}
		<-killed
	}
	if len(tickets) < 10 {
		t.Fatalf("only %d calls were deferred: nothing was tried", len(tickets))
	}
	p := s.start()
	for at := range tickets {
		var last answer
		eventually(t, "the answer of "+at, func() bool {
			last = do(http.MethodGet, p.url+at, "")
			return last.status != http.StatusAccepted && last.status != http.StatusServiceUnavailable
		})
		if last.status != http.StatusOK || !strings.Contains(last.body, `"stop_reason"`) {
			t.Errorf("%s: %d %s", at, last.status, last.body)
		}
	}
	processed, attempts, replays := map[string]int{}, 0, 0
	for _, a := range s.provider.Arrivals() {
		key := a.Headers["idempotency-key"]
		attempts++
		switch {
		case a.Verdict == fakeprovider.VerdictReplayed:
			replays++
		case key != "" && a.Status == http.StatusOK:
			processed[key]++
		}
	}
	for at := range tickets {
		if n := processed[strings.TrimPrefix(at, "/_headgate/deferred/")]; n != 1 {
			t.Errorf("%s was processed %d times", at, n)
		}
	}
	t.Logf("%d tickets, %d sends, %d of them answered as before", len(tickets), attempts, replays)
}

// TestADamagedStoreIsPutAside: the gateway starts, says so, and defers calls again.
func TestADamagedStoreIsPutAside(t *testing.T) {
	s := newSite(t, fakeprovider.Options{}, 60, "")
	s.write(filepath.Join(s.state, "deferred.db"), strings.Repeat("damaged ", 5000))
	p := s.start()
	if !strings.Contains(p.log.String(), "put aside") {
		t.Errorf("nothing says so: %s", p.log)
	}
	if _, err := os.Stat(filepath.Join(s.state, "deferred.db.damaged")); err != nil {
		t.Error(err)
	}
	p.defers(t)
}

// TestNoSecretIsStored: neither the caller's key and cookie nor the gateway's own are anywhere in the state directory,
// the log, or the metrics; what was told to wait by the provider after the key was put in included.
func TestNoSecretIsStored(t *testing.T) {
	s := newSite(t, fakeprovider.Options{}, 60, "deferred: {callbackHosts: [app.example.com]}")
	p := s.start()
	if err := s.provider.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "3600"}); err != nil {
		t.Fatal(err)
	}
	first := p.ask("Headgate-Callback", "https://app.example.com/done?token=secret-of-the-callback")
	second := p.ask("Headgate-Deadline", "0s")
	if first.status != http.StatusAccepted || second.status != http.StatusAccepted || first.header.Get("X-Headgate-Reason") != "CeilingExceeded" {
		t.Fatalf("%d %s %v, %d %s", first.status, first.body, first.header, second.status, second.body)
	}
	if seconds, _ := strconv.Atoi(first.header.Get("Retry-After")); seconds > 3600 || seconds < 3500 {
		t.Errorf("Retry-After: %d", seconds)
	}
	_, metrics := get(t, p.admin+"/metrics")
	p.end(syscall.SIGKILL)
	seen := p.log.String() + metrics
	stored, err := os.ReadFile(filepath.Join(s.state, "deferred.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-c4n4ryKey-of-the-app-c4n4ryKey", "session=of-the-app", key} {
		if strings.Contains(string(stored)+seen, secret) {
			t.Errorf("%s is kept", secret)
		}
	}
	ticket := strings.TrimPrefix(first.header.Get("Location"), "/_headgate/deferred/")
	for _, secret := range []string{ticket, "secret-of-the-callback"} {
		if strings.Contains(seen, secret) {
			t.Errorf("%s is in the log or the metrics", secret)
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	a := do(http.MethodGet, url, "")
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a.status, a.body
}

// TestWhatIsNotDeferred: calls are declined as usual where there is no room, and callbacks are refused at once.
func TestWhatIsNotDeferred(t *testing.T) {
	s := newSite(t, fakeprovider.Options{}, 1, "deferred: {maxCalls: 1, callbackHosts: [app.example.com, \"*.hooks.example.com\"]}")
	p := s.start()
	p.ask()
	if a := p.ask("Headgate-Deadline", "0s"); a.status != http.StatusAccepted {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a := p.ask("Headgate-Deadline", "0s")
	if a.status != http.StatusTooManyRequests || a.header.Get("X-Headgate-Reason") != "DeferredFull" || !strings.Contains(a.body, "anthropic/requests") {
		t.Errorf("full: %d %v %s", a.status, a.header, a.body)
	}
	for _, url := range []string{"http://app.example.com/", "https://evil.example.com/", "https://a.b.hooks.example.com/", "https://127.0.0.1/", "ftp:x", "https://u:p@app.example.com/"} {
		a := p.ask("Headgate-Callback", url)
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, "Headgate-Callback") {
			t.Errorf("%s: %d %s", url, a.status, a.body)
		}
	}
	if status, _ := get(t, p.url+"/_headgate/deferred/"+fmt.Sprintf("%032x", 1)); status != http.StatusNotFound {
		t.Errorf("a ticket that is none: %d", status)
	}
}
