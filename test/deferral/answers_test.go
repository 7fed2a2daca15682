// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferral

import (
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// TestAStreamIsAnsweredByteForByte: a call that asked for a stream is deferred, and its answer is every byte of the
// stream that the provider sent, with the headers that say what it is.
func TestAStreamIsAnsweredByteForByte(t *testing.T) {
	s := newSite(t, fakeprovider.Options{}, 1200, "")
	p := s.start()
	streamed := strings.Replace(message, `"max_tokens":16`, `"max_tokens":400,"stream":true`, 1)
	var a answer
	eventually(t, "a call to be deferred", func() bool {
		a = p.beside(func() answer {
			return do(http.MethodPost, p.url+"/anthropic/v1/messages", streamed, "Headgate-Deadline", "0s")
		})
		return a.status != http.StatusOK
	})
	if a.status != http.StatusAccepted || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	at := a.header.Get("Location")
	var got answer
	eventually(t, "the answer", func() bool { got = do(http.MethodGet, p.url+at, ""); return got.status != http.StatusAccepted })
	sent := s.said.to(strings.TrimPrefix(at, "/_headgate/deferred/"))
	if sent == nil || strings.Count(sent.body.String(), "event: ") < 5 {
		t.Fatalf("the provider sent no stream: %+v", sent)
	}
	if got.status != http.StatusOK || got.body != sent.body.String() {
		t.Errorf("%d, %d bytes of %d: %q", got.status, len(got.body), sent.body.Len(), got.body)
	}
	if want := sent.header.Get("Content-Type"); got.header.Get("Content-Type") != want || !strings.HasPrefix(want, "text/event-stream") {
		t.Errorf("Content-Type %q, the provider's was %q", got.header.Get("Content-Type"), want)
	}
}

// TestMetricsSayWhatBecameOfDeferredCalls, in numbers.
func TestMetricsSayWhatBecameOfDeferredCalls(t *testing.T) {
	s := newSite(t, fakeprovider.Options{}, 1200, "deferred: {maxAttempts: 1, maxCalls: 2}")
	p := s.start()
	becomes := func(at string, status int) {
		t.Helper()
		eventually(t, "the end", func() bool { got, _ := get(t, p.url+at); return got == status })
	}
	first := p.putOff(t)
	becomes(first, http.StatusOK)
	if err := s.provider.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: 500, Count: -1}); err != nil {
		t.Fatal(err)
	}
	second := p.putOff(t)
	becomes(second, http.StatusGone)
	s.provider.ClearFaults()
	third := p.putOff(t)
	becomes(third, http.StatusOK)
	eventually(t, "a call without room", func() bool {
		a := p.beside(func() answer { return p.ask("Headgate-Deadline", "0s") })
		return a.header.Get("X-Headgate-Reason") == "DeferredFull"
	})
	if out, err := s.command("replay", strings.TrimPrefix(second, "/_headgate/deferred/")); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	becomes(second, http.StatusOK)
	if a := do(http.MethodDelete, p.url+first, ""); a.status != http.StatusNoContent {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, line := range []string{
		`headgate_deferred_calls{namespace="team-support",policy="support",provider="anthropic",state="waiting"} 0`,
		`headgate_deferred_calls{namespace="team-support",policy="support",provider="anthropic",state="done"} 2`,
		`headgate_deferred_calls{namespace="team-support",policy="support",provider="anthropic",state="dead_letter"} 0`,
		`headgate_deferred_total{namespace="team-support",outcome="accepted",policy="support",provider="anthropic"} 3`,
		`headgate_deferred_total{namespace="team-support",outcome="answered",policy="support",provider="anthropic"} 3`,
		`headgate_deferred_total{namespace="team-support",outcome="dead_letter",policy="support",provider="anthropic"} 1`,
		`headgate_deferred_total{namespace="team-support",outcome="replayed",policy="support",provider="anthropic"} 1`,
		`headgate_deferred_total{namespace="team-support",outcome="cancelled",policy="support",provider="anthropic"} 1`,
		`headgate_deferred_total{namespace="team-support",outcome="full",policy="support",provider="anthropic"} 1`,
	} {
		eventually(t, line, func() bool {
			_, metrics := get(t, p.admin+"/metrics")
			return strings.Contains(metrics, line+"\n")
		})
	}
}
