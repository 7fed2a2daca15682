// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/coding"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	meters "github.com/headgate-dev/headgate/internal/gateway/meter"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// maxAgain is the largest body that waits for the beginning of a document, in case that is an error.
const maxAgain = 1 << 20

// relayOptions say how a response is passed on.
type relayOptions struct {
	stream bool
	hold   bool
	// document: it is one, and may be an error of which nothing needs to pass on.
	document bool
	progress func(output int64)
}

// succeeded passes a response on that is no failure, as far as its status says.
func (c *call) succeeded(resp *http.Response, reading *dialect.Reading) *again {
	c.cfg.tally.Successes.Add(1)
	c.cfg.quotas.clear(c.account, c.ticket.Sent)
	c.cfg.ceilings.answered(c.account, c.estimate.Input+c.estimate.Output, c.ticket.Sent)
	c.cfg.gate.Succeeded(c.ticket)
	stream := c.req.Stream || streams(resp.Header)
	if c.op.Metered && !c.signed {
		unzip(resp)
	}
	meter := c.meter(resp.Header, stream)
	again := c.replayable()
	document := c.op.Metered && !stream && again && len(c.body.Bytes) <= maxAgain
	_, compressed := meter.(*compressedMeter)
	opts := relayOptions{stream: stream, hold: stream && again || document && compressed, document: document && !compressed}
	if stream && c.ticket.Metered {
		opts.progress = c.progress
	}
	end, failure := c.pass(resp, meter, opts)
	if end == endedByFailure {
		return c.failedInside(resp, failure, reading)
	}
	c.settleStream(end, meter)
	c.markInside(resp, meter)
	c.endAnswer(end)
	return nil
}

// markInside marks the account whose quota turned out to be spent when the answer, or a part of it, had been passed on.
func (c *call) markInside(resp *http.Response, meter dialect.Meter) {
	failure, failed := meter.StreamFailure()
	if !failed || failure.Class != dialect.ClassQuota {
		return
	}
	now := c.now()
	c.markExhausted(resp, failure, nil, c.quotaReset(failure.Wait, now), now)
}

// streams says that a response comes in pieces which matter one by one, and says when it is over.
func streams(h http.Header) bool { return meters.Framed(h.Get("Content-Type")) }

func isJSON(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "application/json") }

// unframed says that nothing but the end of its connection ends a response, as with HTTP/1.0: where that came early only
// the content tells.
func unframed(resp *http.Response) bool {
	return resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0
}

// meter is the meter of a response; what cannot be read is not metered.
func (c *call) meter(h http.Header, stream bool) dialect.Meter {
	if !c.op.Metered {
		return &blind{}
	}
	codings := coding.Names(h)
	if len(codings) == 0 {
		return c.cfg.dialect.NewMeter(c.op, h, dialect.MeterOptions{Stream: stream, StripUsage: c.splice != nil, Choices: c.req.Choices})
	}
	if coding.Readable(codings) {
		plain := h.Clone()
		plain.Del("Content-Encoding")
		meter := c.cfg.dialect.NewMeter(c.op, plain, dialect.MeterOptions{Stream: stream, Choices: c.req.Choices})
		return &compressedMeter{Meter: meter, codings: codings, stream: streams(h) || c.op.Stream}
	}
	return &blind{}
}

// progress charges output while it is produced.
func (c *call) progress(output int64) {
	c.cfg.gate.Charge(c.ticket, float64(output), c.now())
}

// pass relays a response; the failure is the one found inside it before any content.
func (c *call) pass(resp *http.Response, meter dialect.Meter, opts relayOptions) (ending, dialect.Failure) {
	r := &relay{
		w: c.w, rc: http.NewResponseController(c.w), resp: resp, meter: meter, stream: opts.stream, now: c.now,
		guarded:  opts.stream || resp.ContentLength < 0 || resp.ContentLength > plainBuffer,
		progress: opts.progress,
		begun: func() {
			c.body.Release() // a stream may run for long, and its body is not needed any more
			c.judge(decide.Success)
		},
	}
	// A stream asked for may also be an array of documents, which says when it is over by its last bracket.
	stream := streams(resp.Header) || c.op.Stream
	r.mustEnd = c.op.Metered && (stream || unframed(resp) && isJSON(resp.Header))
	r.bracketed = !stream && encoding(resp.Header) == ""
	r.lenient = c.cfg.facts.Name == facts.Generic
	c.copyHeader(resp.Header)
	if c.splice != nil {
		// The injected event is taken out again.
		c.w.Header().Del("Content-Length")
	}
	end := r.run(opts)
	r.finish()
	if c.splice == nil {
		c.copyTrailer(resp.Trailer)
	}
	c.begun = r.committed
	if r.committed {
		c.status = resp.StatusCode
	} else {
		clear(c.w.Header())
	}
	if end == endedByFailure {
		failure, _ := meter.StreamFailure()
		r.giveBack()
		return end, failure
	}
	return end, dialect.Failure{}
}

// copyHeader copies a provider's headers to the app's response, and says so where it is not the one that was called.
func (c *call) copyHeader(h http.Header) {
	upstream.CopyResponse(c.w.Header(), h)
	if c.from != nil {
		c.w.Header().Set(HeaderFailover, c.hop())
	}
}

// copyTrailer passes on what a provider says behind its body, where the answer has a place for it.
func (c *call) copyTrailer(h http.Header) {
	for name, values := range h {
		if len(values) > 0 {
			c.w.Header()[http.TrailerPrefix+name] = values
		}
	}
}

// settleStream charges what a response turned out to cost.
func (c *call) settleStream(end ending, meter dialect.Meter) {
	usage := meter.Usage()
	s := admission.Settlement{Kind: admission.Billed, Usage: usage, Seen: meter.OutputSoFar()}
	failure, failed := meter.StreamFailure()
	if failed {
		c.countFailure(failure.Class)
	}
	// An answer that said it is over has told its usage: SDKs leave then, before the connection's own end. Of several choices the
	// first may be over alone.
	whole := end == endedWell || meter.Complete() && c.req.Choices <= 1
	if !whole || failed || usage.Input < 0 && usage.Output < 0 {
		s.Kind = admission.Kept
		if c.ticket.Metered {
			c.cfg.tally.EstimatedSettlements.Add(1)
		}
	}
	c.settle(s)
	if c.op.Metered {
		c.cfg.tally.Billed(c.req.Model, usage.Input, usage.Output, usage.CachedRead, usage.CacheWrite)
	}
	c.countEnd(end, failed)
}

// countEnd is the outcome of a call whose answer was passed on, as far as its end; failed says that the answer is an error.
func (c *call) countEnd(end ending, failed bool) {
	switch {
	case end == endedByClient || c.r.Context().Err() != nil && end != endedWell:
		c.outcome = outcomeCancelled
	case end == endedByUpstream:
		c.outcome = outcomeTruncated
		c.cfg.tally.TruncatedStreams.Add(1)
	case failed:
		c.outcome = outcomeFailed
	default:
		c.outcome = outcomeSuccess
	}
}

// endAnswer makes an answer that broke off look like one to the client.
func (c *call) endAnswer(end ending) {
	switch {
	case end == endedWell || end == endedByFailure:
	case !c.begun && c.r.Context().Err() == nil:
		c.unreachable(errTruncated)
		c.outcome, c.reason = outcomeTruncated, reasonTruncated
	case c.begun && !c.alive.tells():
		// The server then closes the connection without the end that would make it look complete.
		panic(http.ErrAbortHandler)
	}
}

var errTruncated = errors.New("its answer broke off before its end")

// failedInside handles a failure that came inside a success before any content.
func (c *call) failedInside(resp *http.Response, failure dialect.Failure, reading *dialect.Reading) *again {
	now := c.now()
	if failure.RejectsUsage && c.splice != nil {
		return c.withoutUsage(resp, admission.Rejected, now)
	}
	c.settle(admission.Settlement{Kind: admission.Rejected})
	reading.Add(failure)
	wait, source, guided := c.guidance(reading, failure.Class)
	c.countRefusal(failure, reading, wait, guided, now)
	if failure.Class == dialect.ClassQuota {
		wait = c.quotaReset(wait, now)
		c.markExhausted(resp, failure, nil, wait, now)
	}
	again, end := c.next(situation{class: failure.Class, wait: wait, guided: guided, source: source})
	if again != nil {
		return again
	}
	return c.giveUp(resp, end, wait)
}

// refused handles a response that is no success; a redirect is passed on like any other.
func (c *call) refused(resp *http.Response, reading *dialect.Reading, now time.Time) *again {
	raw := readFailure(resp)
	failure := c.cfg.dialect.ReadFailure(resp.StatusCode, resp.Header, raw, reading)
	kind := admission.Rejected
	if failure.Class == dialect.ClassTransient {
		// It may have been processed, and billed.
		kind = admission.Kept
		c.cfg.tally.EstimatedSettlements.Add(1)
	}
	if failure.RejectsUsage && c.splice != nil {
		return c.withoutUsage(resp, kind, now)
	}
	c.settle(admission.Settlement{Kind: kind})
	wait, source, guided := c.guidance(reading, failure.Class)
	c.countRefusal(failure, reading, wait, guided, now)
	if failure.Class == dialect.ClassQuota {
		wait = c.quotaReset(wait, now)
		c.markExhausted(resp, failure, raw, wait, now)
	}
	again, end := c.next(situation{
		class: failure.Class, wait: wait, guided: guided, source: source, maybe: kind == admission.Kept,
	})
	if again != nil {
		return again
	}
	return c.giveUp(resp, end, wait)
}

// withoutUsage sends the call again as it came: what the provider refused is what we put into it.
func (c *call) withoutUsage(resp *http.Response, kind admission.Kind, now time.Time) *again {
	c.g.rejectsUsage.add(c.cfg.base.Host)
	c.splice, c.rejected = nil, true
	if c.ticket.Shadow {
		// Where nothing may delay or refuse it, the reservation goes on to the send that counts.
		return &again{verdict: admission.Verdict{State: budget.Admitted}, since: now, source: c.source}
	}
	c.settle(admission.Settlement{Kind: kind})
	again, end := c.repeatAtOnce(now)
	if again != nil {
		return again
	}
	return c.giveUp(resp, end, 0)
}

type prefixed struct {
	io.Reader
	io.Closer
}

// passOn gives the provider's own answer to the client, untouched, and says so where we are done with it.
func (c *call) passOn(resp *http.Response, last final, wait time.Duration) *again {
	c.discard()
	gone := c.r.Context().Err() != nil
	c.copyHeader(resp.Header)
	if last.ours {
		h := c.w.Header()
		h.Set(headerShouldRetry, "false")
		wait = max(wait, last.wait)
		if last.reason == reasonQuota && wait == 0 {
			wait = probeEvery
		}
		seconds := wholeSeconds(wait)
		h.Set("Retry-After", strconv.FormatInt(seconds, 10))
		c.tell(resp, time.Duration(seconds)*time.Second)
		h.Set(HeaderReason, last.reason)
		c.reason = last.reason
		c.lane.Refused(last.reason)
	}
	r := &relay{
		w: c.w, rc: http.NewResponseController(c.w), resp: resp, meter: &blind{}, now: c.now,
		guarded: resp.ContentLength < 0 || resp.ContentLength > plainBuffer,
	}
	end := r.run(relayOptions{})
	r.finish()
	c.copyTrailer(resp.Trailer)
	c.status, c.begun = resp.StatusCode, true
	c.outcome = outcomeFailed
	if gone || end == endedByClient {
		// A small answer to a client that is gone meets no error, and is nobody's failure.
		c.outcome = outcomeCancelled
	}
	c.endAnswer(end)
	return nil
}
