// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/callback"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/plan"
)

// pipes is a listener whose connections never leave the process, so that time can be simulated.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// delivery is what a receiver was given.
type delivery struct {
	at   time.Time
	head http.Header
	body string
}

// receiver is a callback's server, over TLS, in simulated time.
type receiver struct {
	mu     sync.Mutex
	got    []delivery
	answer func(n int) int
	hang   bool
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	n := len(r.got)
	r.got = append(r.got, delivery{time.Now(), req.Header.Clone(), string(body)})
	answer, hang := r.answer, r.hang
	r.mu.Unlock()
	if hang {
		<-req.Context().Done()
		// To return would be to answer, and at this very moment the other side may still listen.
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(answer(n))
}

// mostWithin is how many deliveries began within any such time: what begins as another ends is not beside it.
func (r *receiver) mostWithin(d time.Duration) (most int) {
	got := r.deliveries()
	for i := range got {
		beside := 0
		for _, e := range got[:i+1] {
			if got[i].at.Sub(e.at) < d {
				beside++
			}
		}
		most = max(most, beside)
	}
	return most
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

// delivering runs f in a room whose callbacks lead to the receiver.
func delivering(t *testing.T, p *provider, rec *receiver, f func(r *room)) {
	t.Helper()
	if p.bounds.MaxCalls == 0 {
		p.bounds = plan.Deferred{MaxAgeSeconds: 86400, MaxAttempts: 2, MaxCalls: 20, MaxBytes: 10_000, CallbackHosts: []string{"example.com"}}
	}
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: rec}}
		srv.StartTLS()
		defer srv.Close()
		c, err := callback.New(callback.Options{
			ExtraCA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
			Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				l.conns <- far
				return near, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r := &room{t: t, store: newMemory(), provider: p, callbacks: c}
		r.start()
		f(r)
		r.stop()
	})
}

const callbackURL = "https://example.com/done?x=1"

func answersOK(int, *proxy.Later) proxy.Made { return ok }

// TestAnOutcomeIsDeliveredOnceItIsTaken: until then it is tried again, each time after a longer wait, never before it.
func TestAnOutcomeIsDeliveredOnceItIsTaken(t *testing.T) {
	rec := &receiver{answer: func(n int) int {
		return []int{503, 404, 302, 500, 204}[min(n, 4)]
	}}
	delivering(t, &provider{answer: answersOK}, rec, func(r *room) {
		at := r.take(proxy.Later{Callback: callbackURL})
		time.Sleep(12 * time.Hour)
		got := rec.deliveries()
		if len(got) != 5 {
			t.Fatalf("%d deliveries", len(got))
		}
		for i, d := range got {
			if d.body != string(ok.Body) || d.head.Get(callback.HeaderTicket) != idOf(at) || d.head.Get(callback.HeaderState) != "Done" ||
				d.head.Get(callback.HeaderStatus) != "200" || d.head.Get("Content-Type") != "text/plain" {
				t.Errorf("delivery %d: %v %q", i, d.head, d.body)
			}
			if i == 0 {
				continue
			}
			longest := deliverBase << (i - 1)
			if wait := d.at.Sub(got[i-1].at); wait < longest/2 || wait > longest {
				t.Errorf("delivery %d came after %s, not within %s and %s", i, wait, longest/2, longest)
			}
		}
		if c := r.queue.Counts("support", "anthropic"); c.Outcomes[outcomeDelivered] != 1 || c.Outcomes[outcomeUndeliverable] != 0 {
			t.Errorf("%v", c.Outcomes)
		}
		if w := r.ask(http.MethodGet, at); w.Code != 200 || w.Body.String() != string(ok.Body) {
			t.Errorf("GET: %d %q", w.Code, w.Body)
		}
	})
}

// TestDeliveriesAreGivenUp after so many, over restarts too; the answer stays where it was for its age, and is delivered
// no more when it expires.
func TestDeliveriesAreGivenUp(t *testing.T) {
	rec := &receiver{answer: func(int) int { return 500 }}
	delivering(t, &provider{answer: answersOK}, rec, func(r *room) {
		at := r.take(proxy.Later{Callback: callbackURL})
		for range 3 {
			time.Sleep(5 * time.Minute)
			r.stop()
			r.start()
		}
		time.Sleep(2 * time.Hour)
		got := rec.deliveries()
		if len(got) != maxDeliveries {
			t.Fatalf("%d deliveries of %d", len(got), maxDeliveries)
		}
		if took := got[len(got)-1].at.Sub(got[0].at); took < 30*time.Minute || took > 90*time.Minute {
			t.Errorf("given up after %s, which is not about an hour", took)
		}
		list := r.queue.List()
		if len(list) != 1 || list[0].State != "Done" || list[0].Callback != string(ticket.GivenUp) {
			t.Errorf("%+v", list)
		}
		if c := r.queue.Counts("support", "anthropic"); c.Done != 1 || c.Outcomes[outcomeUndeliverable] != 1 || c.Outcomes[outcomeDelivered] != 0 {
			t.Errorf("%+v", c)
		}
		time.Sleep(20 * time.Hour)
		if w := r.ask(http.MethodGet, at); w.Code != 200 || w.Body.String() != string(ok.Body) {
			t.Errorf("GET when it was given up: %d %q", w.Code, w.Body)
		}
		time.Sleep(2 * time.Hour)
		if w := r.ask(http.MethodGet, at); w.Code != 410 || !strings.Contains(w.Body.String(), "AnswerExpired") || len(rec.deliveries()) != maxDeliveries {
			t.Errorf("GET after its age: %d %s, %d deliveries", w.Code, w.Body, len(rec.deliveries()))
		}
	})
}

// TestDeadLettersAreDelivered with their reason, and anew when one that was replayed ends.
func TestDeadLettersAreDelivered(t *testing.T) {
	rec := &receiver{answer: func(int) int { return 200 }}
	p := &provider{answer: func(n int, _ *proxy.Later) proxy.Made {
		if n < 2 {
			return proxy.Made{Sent: true, Reason: "Overloaded"}
		}
		return ok
	}}
	delivering(t, p, rec, func(r *room) {
		at := r.take(proxy.Later{Callback: callbackURL})
		time.Sleep(time.Minute)
		got := rec.deliveries()
		if len(got) != 1 || got[0].head.Get(callback.HeaderState) != "DeadLetter" || got[0].head.Get(callback.HeaderReason) != "AttemptsExhausted" ||
			got[0].head.Get("Content-Type") != "application/json" || !strings.Contains(got[0].body, `"lastError":"Overloaded"`) {
			t.Fatalf("%+v", got)
		}
		if err := r.queue.Replay(t.Context(), idOf(at)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got = rec.deliveries(); len(got) != 2 || got[1].head.Get(callback.HeaderState) != "Done" || got[1].body != string(ok.Body) {
			t.Errorf("%+v", got)
		}
	})
}

// TestAHostThatIsListedNoMoreGetsNothing, though a delivery to it had begun.
func TestAHostThatIsListedNoMoreGetsNothing(t *testing.T) {
	rec := &receiver{answer: func(int) int { return 500 }}
	p := &provider{answer: answersOK}
	delivering(t, p, rec, func(r *room) {
		at := r.take(proxy.Later{Callback: callbackURL})
		time.Sleep(time.Second)
		r.stop()
		p.bounds.CallbackHosts = []string{"other.example.com"}
		r.start()
		time.Sleep(3 * time.Hour)
		if got := rec.deliveries(); len(got) != 1 {
			t.Errorf("%d deliveries", len(got))
		}
		if list := r.queue.List(); len(list) != 1 || list[0].Callback != string(ticket.GivenUp) || r.ask(http.MethodGet, at).Code != 200 {
			t.Errorf("%+v", list)
		}
	})
}

// TestReceiversThatHangHoldUpLittle: each delivery is bounded in time, and so is their number at once.
func TestReceiversThatHangHoldUpLittle(t *testing.T) {
	rec := &receiver{hang: true}
	delivering(t, &provider{answer: answersOK}, rec, func(r *room) {
		for range 10 {
			r.take(proxy.Later{Callback: callbackURL})
		}
		time.Sleep(29 * time.Second)
		if got := len(rec.deliveries()); got != maxDelivering {
			t.Errorf("%d deliveries at once", got)
		}
		time.Sleep(5 * time.Second)
		if got := len(rec.deliveries()); got <= maxDelivering {
			t.Errorf("%d deliveries: one that hangs is not ended", got)
		}
		time.Sleep(3 * time.Hour)
		if n, most := len(rec.deliveries()), rec.mostWithin(30*time.Second); n != 10*maxDeliveries || most != maxDelivering {
			t.Errorf("%d deliveries, at most %d at once", n, most)
		}
	})
}

// TestACancelledTicketIsDeliveredNoMore.
func TestACancelledTicketIsDeliveredNoMore(t *testing.T) {
	rec := &receiver{answer: func(int) int { return 500 }}
	delivering(t, &provider{answer: answersOK}, rec, func(r *room) {
		at := r.take(proxy.Later{Callback: callbackURL})
		time.Sleep(time.Minute)
		before := len(rec.deliveries())
		if before < 2 || r.ask(http.MethodDelete, at).Code != 204 {
			t.Fatalf("%d deliveries", before)
		}
		time.Sleep(3 * time.Hour)
		if got := len(rec.deliveries()); got != before || r.store.kept() != 0 {
			t.Errorf("%d deliveries, then %d; %d records", before, got, r.store.kept())
		}
	})
}
