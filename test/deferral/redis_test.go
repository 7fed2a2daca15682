// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferral

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// promptly is thirty times what a caller waits at most for a store that does not answer.
const promptly = time.Minute

// inRedis is a site whose gateways keep calls in a real server.
func inRedis(t *testing.T, o fakeprovider.Options, perMinute int) (*site, *redisserver.Server) {
	t.Helper()
	s, r := newSite(t, o, perMinute, ""), redisserver.New(t)
	s.args = append(s.args, "--deferred-store", r.URL(), "--deferred-store-password-file", r.PasswordFile())
	return s, r
}

// defers asks until the store is open, and a call is deferred.
func (p *process) defers(t *testing.T) (location string) {
	t.Helper()
	eventually(t, "a call to be deferred", func() bool {
		a := p.ask("Headgate-Deadline", "0s")
		location = a.header.Get("Location")
		return a.status == http.StatusAccepted
	})
	return location
}

// answered waits for a ticket's answer.
func (p *process) answered(t *testing.T, at string) {
	t.Helper()
	var last answer
	eventually(t, "the answer of "+at, func() bool {
		last = do(http.MethodGet, p.url+at, "")
		return last.status != http.StatusAccepted && last.status != http.StatusServiceUnavailable
	})
	if last.status != http.StatusOK || !strings.Contains(last.body, `"stop_reason"`) {
		t.Errorf("%s: %d %s", at, last.status, last.body)
	}
}

// processed counts how often the provider made the call of a ticket.
func (s *site) processed(at string) (n int) {
	for _, a := range s.provider.Arrivals() {
		if a.Headers["idempotency-key"] == ticketOf(at) && a.Status == http.StatusOK && a.Verdict != fakeprovider.VerdictReplayed {
			n++
		}
	}
	return n
}

func ticketOf(location string) string { return strings.TrimPrefix(location, "/_headgate/deferred/") }

// TestAnotherGatewayGoesOnWithWhatIsInRedis: a gateway is killed while calls wait; their tickets answer in another one
// at once, which takes them over, and makes each once. The server itself is killed and comes back in between.
func TestAnotherGatewayGoesOnWithWhatIsInRedis(t *testing.T) {
	t.Parallel()
	s, r := inRedis(t, fakeprovider.Options{FirstByte: 20 * time.Millisecond}, 120)
	r.Run()
	p := s.start()
	var tickets []string
	for range 8 {
		tickets = append(tickets, p.defers(t))
	}
	p.end(syscall.SIGKILL)
	r.Kill()
	r.Run()
	p = s.start()
	first := p.defers(t)
	for _, at := range append(tickets, first) {
		if status, body := get(t, p.url+at); status != http.StatusAccepted && status != http.StatusOK {
			t.Errorf("%s in another gateway: %d %s", at, status, body)
		}
	}
	for _, at := range append(tickets, first) {
		p.answered(t, at)
		if n := s.processed(at); n != 1 {
			t.Errorf("%s was processed %d times", at, n)
		}
	}
	if a := do(http.MethodGet, p.url+first, ""); !strings.Contains(a.body, "stop_reason") || a.header.Get("X-Headgate-Deferred") != "Done" {
		t.Errorf("%v", a)
	}
}

// TestWhileRedisIsGoneCallsAreDeclined, promptly, whether it is killed or only silent, and made neither then nor later;
// what was kept before has its answer when it is back.
func TestWhileRedisIsGoneCallsAreDeclined(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ leave, back func(*redisserver.Server) }{
		"killed": {(*redisserver.Server).Kill, (*redisserver.Server).Run},
		"silent": {(*redisserver.Server).Pause, (*redisserver.Server).Resume},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// So few a minute that all but the first would be deferred.
			s, r := inRedis(t, fakeprovider.Options{}, 6)
			r.Run()
			p := s.start()
			before := p.defers(t)
			c.leave(r)
			for range 3 {
				began := time.Now()
				a := p.ask("Headgate-Deadline", "0s", "Idempotency-Key", "declined")
				if took := time.Since(began); took > promptly {
					t.Errorf("the refusal took %s", took)
				}
				// At its turn a call is made, whatever the store does.
				if a.status != http.StatusOK && (a.status != http.StatusTooManyRequests || a.header.Get("X-Headgate-Reason") != "Deadline") {
					t.Errorf("%d %v %s", a.status, a.header, a.body)
				}
				if a.status == http.StatusOK {
					s.provider.Reset()
				}
			}
			c.back(r)
			p.answered(t, before)
			p.answered(t, p.defers(t))
			if n := len(r.Do("KEYS *ticket:*")); n != 2 {
				t.Errorf("%d tickets are kept of the two that were promised", n)
			}
			for line := range strings.Lines(p.log.String()) {
				if !strings.HasPrefix(line, "{") {
					t.Errorf("the store's client writes beside the log: %s", line)
				}
			}
			for _, a := range s.provider.Arrivals() {
				if a.Headers["idempotency-key"] == "declined" {
					t.Error("a call that was declined was made")
				}
			}
		})
	}
}

// TestAnEmptiedRedisLosesTicketsAndNoMore: they are unknown then, and the gateway goes on.
func TestAnEmptiedRedisLosesTicketsAndNoMore(t *testing.T) {
	t.Parallel()
	s, r := inRedis(t, fakeprovider.Options{}, 60)
	r.Run()
	p := s.start()
	done := p.defers(t)
	p.answered(t, done)
	waiting := p.defers(t)
	r.Do("FLUSHALL")
	for _, at := range []string{done, waiting} {
		eventually(t, "the end of "+at, func() bool { status, _ := get(t, p.url+at); return status == http.StatusNotFound })
	}
	p.answered(t, p.defers(t))
	if strings.Contains(p.log.String(), redisserver.Password) {
		t.Error("the store's password is in the log")
	}
}

// TestAGatewayStartsBeforeItsRedis: it serves, declines what it would defer, and defers once the store is there.
func TestAGatewayStartsBeforeItsRedis(t *testing.T) {
	t.Parallel()
	s, r := inRedis(t, fakeprovider.Options{}, 6)
	p := s.start()
	if a := p.ask(); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	began := time.Now()
	a := p.ask("Headgate-Deadline", "0s")
	if took := time.Since(began); a.status != http.StatusTooManyRequests || took > promptly {
		t.Errorf("%d after %s: %s", a.status, took, a.body)
	}
	if status, _ := get(t, p.url+"/_headgate/deferred/00000000000000000000000000000001"); status != http.StatusServiceUnavailable {
		t.Errorf("a ticket while the store is not there: %d", status)
	}
	r.Run()
	p.answered(t, p.defers(t))
}
