// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/credential"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// send makes one attempt. It returns what to wait for before the next one, or nil when the call was
// answered.
func (c *call) send() *again {
	if again, kept := c.keptBack(); kept {
		return again
	}
	defer c.judge("")
	c.keyed = c.now()
	out, err := c.outgoing()
	if err != nil {
		c.settle(admission.Settlement{Kind: admission.NotSent})
		c.unusable(spokenError(err), reasonCredential)
		return nil
	}
	if !c.departs() {
		_ = out.Body.Close()
		return nil
	}
	sent := c.now()
	c.countSend(sent)
	resp, err := c.roundTrip(out)
	if err != nil {
		return c.broken(err)
	}
	defer func() { _ = resp.Body.Close() }()
	received := c.now()
	c.upstreamID = upstreamID(resp.Header)
	reading := c.cfg.dialect.ReadHeaders(resp.StatusCode, resp.Header, received)
	if c.cfg.policy != "" {
		c.cfg.gate.Observe(c.ticket, &reading, received)
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		// Refusals come quickly: in an overload they would make calls begin too late for their deadlines.
		c.cfg.health.took(received.Sub(sent))
		return c.succeeded(resp, &reading)
	}
	return c.refused(resp, &reading, received)
}

// errNoFinal says that a provider changed the protocol unasked, or answered with a status below 200.
var errNoFinal = errors.New("its answer has no final status")

// roundTrip sends a request and returns its response, which has a final status.
func (c *call) roundTrip(out *http.Request) (*http.Response, error) {
	c.goes()
	out, silence := watchSilence(out)
	resp, err := c.g.transport.Load().RoundTrip(out)
	if err != nil {
		silence.end()
		return nil, err
	}
	resp.Body = &heard{resp.Body, silence, true}
	if resp.StatusCode < http.StatusOK {
		_ = resp.Body.Close()
		return nil, errNoFinal
	}
	return resp, nil
}

// outgoing is the request of one send.
func (c *call) outgoing() (*http.Request, error) {
	out, err := c.prepare(c.r.Context())
	if err != nil {
		return nil, err
	}
	c.askForUsage()
	switch {
	case c.splice != nil:
		s := *c.splice
		out.Body = c.body.Spliced(s.From, s.To, s.Text)
		out.ContentLength = int64(len(c.body.Bytes) - (s.To - s.From) + len(s.Text))
		out.GetBody = func() (io.ReadCloser, error) { return c.body.Spliced(s.From, s.To, s.Text), nil }
	case len(c.body.Bytes) == 0 && c.body.Replayable():
		out.Body, out.ContentLength, out.GetBody = http.NoBody, 0, nil
	case c.body.Replayable():
		out.Body, out.ContentLength = c.body.Reader(), int64(len(c.body.Bytes))
		out.GetBody = func() (io.ReadCloser, error) { return c.body.Reader(), nil }
	default:
		// A body that streams through goes once; without GetBody the transport cannot repeat it either.
		out.Body, out.GetBody = c.body.Reader(), nil
	}
	return out, nil
}

// askForUsage rewrites a streamed request so that it reports what it used, unless the host refused that
// before.
func (c *call) askForUsage() {
	if !c.op.Metered || !c.req.Stream || c.req.WantsUsage || !c.body.Replayable() || c.splice != nil || c.rejected {
		return
	}
	if c.signed || c.g.rejectsUsage.has(c.cfg.base.Host) {
		return
	}
	if s, ok := c.cfg.dialect.InjectUsage(c.op, c.body.Bytes); ok && !credential.CoversBody(c.r.Header) {
		c.splice = &s
	}
}

func (c *call) countSend(now time.Time) {
	c.sends++
	c.ticket.Sent = now
	c.cfg.tally.Sent(c.sends, now)
	if c.sends == 1 {
		c.cfg.retries.call(now)
		c.lane.Sent(c.waited, c.source)
	}
}

// broken handles a send without a response.
func (c *call) broken(err error) *again {
	untouched := upstream.NothingSent(err)
	kind := admission.Kept
	if untouched {
		kind = admission.NotSent
	} else {
		c.cfg.tally.EstimatedSettlements.Add(1)
	}
	c.settle(admission.Settlement{Kind: kind})
	if c.r.Context().Err() != nil {
		c.outcome = outcomeCancelled
		return nil
	}
	c.cfg.tally.TransientErrors.Add(1)
	c.judge(decide.Transient)
	again, _ := c.next(situation{class: dialect.ClassTransient, maybe: !untouched, never: upstream.Misconfigured(err)})
	if again != nil {
		return again
	}
	c.unreachable(err)
	return nil
}

// unreachable answers in the provider's shape that there is no answer of the provider.
func (c *call) unreachable(err error) {
	c.outcome = outcomeUpstream
	prefix := "headgate: "
	if c.cfg.policy != "" {
		prefix += c.cfg.who + ": "
	}
	c.refuse(dialect.Refusal{
		Status: http.StatusBadGateway, Reason: reasonUpstream, RetryAfter: time.Second,
		Message: prefix + c.cfg.display + " gave no answer: " + short(upstream.Spoken(err)),
	})
}

// spokenError is an error's text without the URL that some errors carry: its query may hold a key.
func spokenError(err error) string {
	err = upstream.WithoutURL(err)
	var escape url.EscapeError
	if errors.As(err, &escape) {
		return "its URL has an escape that is none"
	}
	return err.Error()
}

// short bounds an error's text.
func short(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}

// reenter waits for another send: the reservation of the earlier one is gone, the place in the queue is
// kept.
func (c *call) reenter(a *again) bool {
	waited := c.waited
	c.source = a.source
	if !c.admitted(a.verdict, a.since) {
		return false
	}
	c.lane.Waited(c.waited-waited, a.source)
	return true
}

// settle ends the current reservation.
func (c *call) settle(s admission.Settlement) {
	c.cfg.gate.Release(c.ticket, s)
}

// upstreamID is the provider's own name for the call, for the log.
func upstreamID(h http.Header) string {
	for _, name := range [...]string{"Request-Id", "X-Request-Id"} {
		if values := h[name]; len(values) > 0 && len(values[0]) <= 128 {
			return values[0]
		}
	}
	return ""
}

// sendFree passes on a call that is charged to nothing.
func (c *call) sendFree() {
	c.lane = c.figuresOf(len(c.cfg.lanes) - 1)
	c.source = tally.WaitNone
	c.useKey(c.cfg.plan.CredentialKey)
	out, err := c.outgoing()
	if err != nil {
		c.unusable(spokenError(err), reasonCredential)
		return
	}
	c.sends = 1
	resp, err := c.roundTrip(out)
	if err != nil {
		if c.r.Context().Err() != nil {
			c.outcome = outcomeCancelled
			return
		}
		c.unreachable(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	end, _ := c.pass(resp, &blind{}, relayOptions{})
	// Who asks whether a list has changed is answered well when told that it has not.
	c.countEnd(end, resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode != http.StatusNotModified)
	c.endAnswer(end)
}
