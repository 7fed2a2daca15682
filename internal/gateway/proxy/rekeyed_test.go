// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// renew writes another key under a name, and has the gateway take it in.
func (w *world) renew(dir, name, key string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(key), 0o600); err != nil {
		w.t.Fatal(err)
	}
	changed, err := w.gateway.opts.Credentials.Reload()
	if err != nil || !slices.Equal(changed, []string{name}) {
		w.t.Fatalf("%q have changed: %v", changed, err)
	}
	w.gateway.Rekeyed(changed, time.Now())
}

// spentFor refuses each key but one for good, the second call after ten seconds.
func spentFor(unspent string) *script {
	return scripted(func(n int, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == canary.Key(unspent) {
			answerOK(w)
			return
		}
		if n == 2 {
			time.Sleep(10 * time.Second)
		}
		fail(w, http.StatusPaymentRequired, `{"type":"error","error":{"type":"billing_error","message":"x"}}`, "Retry-After", "7200")
	})
}

// TestA7AnotherKeyIsAskedAtOnce: who renews the gateway's key, for the quota of the one before is spent, is served at once,
// also where a call that was sent with the old one is refused after that.
func TestA7AnotherKeyIsAskedAtOnce(t *testing.T) {
	s := spentFor("renewed")
	simulate(t, s, onePolicy(sorted("route", "")), func(w *world) {
		dir := w.withKeys(map[string]string{"route": "one.example"})
		w.ask(10)
		time.Sleep(time.Hour + time.Second)
		var probe sync.WaitGroup
		probe.Go(func() { w.ask(10) })
		time.Sleep(time.Second)
		if a := w.ask(10); a.header.Get(HeaderReason) != reasonQuota || s.count() != 2 {
			t.Fatalf("answer %d after %d sends", a.status, s.count())
		}
		w.renew(dir, "route", canary.Key("renewed"))
		for range 2 {
			if a := w.ask(10); a.status != http.StatusOK {
				t.Errorf("with another key: answer %d %s", a.status, a.body)
			}
			probe.Wait()
		}
		w.atRest()
	})
}

// TestA7AKeyThatIsRenewedSaysNothingOfOthers: the quotas of the route's other keys, and of the apps' own, stay spent.
func TestA7AKeyThatIsRenewedSaysNothingOfOthers(t *testing.T) {
	s := spentFor("renewed")
	apps := anthropicRoute(canonical...)
	apps.Name, apps.BaseURL = "apps", "https://one.example"
	simulate(t, s, onePolicy(sorted("route", "bulk"), apps), func(w *world) {
		dir := w.withKeys(map[string]string{"route": "one.example", "bulk": "one.example"})
		ask := map[string]func() answer{
			"route": func() answer { return w.ask(10) },
			"bulk":  func() answer { return w.ask(10, "X-Bulk", "1") },
			"apps":  func() answer { return w.post("/apps/v1/messages", message(10), "X-Api-Key", canary.Key("1")) },
		}
		for name, one := range ask {
			if a := one(); a.status != http.StatusPaymentRequired {
				t.Errorf("%s: answer %d", name, a.status)
			}
		}
		w.renew(dir, "bulk", canary.Key("renewed"))
		for name, one := range ask {
			a := one()
			if refused := a.header.Get(HeaderReason) == reasonQuota; refused == (name == "bulk") {
				t.Errorf("%s: answer %d %v", name, a.status, a.header)
			}
		}
		if s.count() != 4 {
			t.Errorf("%d sends", s.count())
		}
		w.atRest()
	})
}

// TestA7AKeyThatIsRenewedAsItsCallLeavesIsNotKeptOut: a call that was given the key from before, and leaves when it is
// another, marks nothing.
func TestA7AKeyThatIsRenewedAsItsCallLeavesIsNotKeptOut(t *testing.T) {
	s := spentFor("renewed")
	simulate(t, s, onePolicy(sorted("route", "")), func(w *world) {
		dir := w.withKeys(map[string]string{"route": "one.example"})
		w.gateway.Make(context.Background(), &Later{Route: "anthropic", Path: "/v1/messages", Body: []byte(message(10))}, MakeOptions{
			Patience: time.Minute, MaxAnswer: 1 << 20,
			Sending: func() bool {
				time.Sleep(time.Second) // its state is written
				w.renew(dir, "route", canary.Key("renewed"))
				time.Sleep(time.Second)
				return true
			},
		})
		if s.count() != 1 || s.headers[0].Get("X-Api-Key") != canary.Key("route") {
			t.Fatalf("%d sends, none with the key from before", s.count())
		}
		if a := w.ask(10); a.status != http.StatusOK {
			t.Errorf("with another key: answer %d %s", a.status, a.body)
		}
		w.atRest()
	})
}

// TestFailoverHoldsWhereAKeyIsRenewed: the wait that calls fail over for still stands in the gate, which keeps them back for as
// long; to forget why would have them all refused.
func TestFailoverHoldsWhereAKeyIsRenewed(t *testing.T) {
	p := farOff(fine)
	simulate(t, p, pair(func(first, second *plan.Route) {
		first.BaseURL, second.BaseURL = "https://one.example/first", "https://one.example/second"
		first.CredentialKey, second.CredentialKey = "route", "other"
	}), func(w *world) {
		dir := w.withKeys(map[string]string{"route": "one.example", "other": "one.example"})
		for _, name := range []string{"", "other", "route"} {
			if name != "" {
				w.renew(dir, name, canary.Key(name+"-renewed"))
			}
			for range 2 {
				if a := w.ask(100); a.status != http.StatusOK || a.header.Get(HeaderFailover) != "anthropic -> second" {
					t.Errorf("%q is renewed: answer %d %s %v", name, a.status, a.body, a.header)
				}
			}
		}
		p.sent(t, 1, 6)
		w.atRest()
	})
}
