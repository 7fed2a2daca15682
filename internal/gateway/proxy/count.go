// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// guidance is the wait a failure asks for: where a reset tells when a bucket is full, the time until this
// call fits, else what the response says.
func (c *call) guidance(r *dialect.Reading, class dialect.Class) (time.Duration, dialect.Source, bool) {
	wait, source, ok := r.Wait(class)
	if ok && source == dialect.SourceResetHeader {
		if floor, known := c.cfg.gate.Floor(c.ticket, r); known {
			wait = floor
		}
	}
	return wait, source, ok
}

// countRefusal counts a failure and tells the gate what it means for the levels.
func (c *call) countRefusal(f dialect.Failure, r *dialect.Reading, wait time.Duration, guided bool, now time.Time) {
	c.countFailure(f.Class)
	c.judge(decide.Class(f.Class))
	c.cfg.health.failed(f, now)
	if f.Class != dialect.ClassThrottle && f.Class != dialect.ClassOverload {
		return
	}
	if !guided {
		reason := r.Malformed
		if reason == "" {
			reason = "absent"
		}
		c.cfg.tally.Missing(reason)
	}
	if f.Class == dialect.ClassThrottle {
		if !guided {
			c.cfg.tally.Unguided.Add(1)
		}
	}
	if f.Class == dialect.ClassThrottle && c.cfg.policy != "" {
		if guided && c.cfg.failover != nil && wait > c.cfg.settings.HonourCeiling {
			// Before admission knows: whom it refuses for that wait from then on is to find that it stands.
			c.cfg.ceilings.set(c.account, c.estimate.Input+c.estimate.Output, now.Add(wait), now)
		}
		c.cfg.gate.Refused(c.ticket, r, f.Budget, wait, guided, now)
	}
}

func (c *call) countFailure(class dialect.Class) {
	c.failedAs(class)
	t := c.cfg.tally
	switch class {
	case dialect.ClassThrottle:
		t.TooManyRequests.Add(1)
	case dialect.ClassOverload:
		t.Overloads.Add(1)
	case dialect.ClassQuota:
		t.QuotaExhausted.Add(1)
	case dialect.ClassTransient:
		t.TransientErrors.Add(1)
	case dialect.ClassPermanent:
		t.PermanentErrors.Add(1)
	case dialect.ClassSuccess:
	}
}

// markExhausted marks the account: until its quota is back, calls are answered without being sent.
func (c *call) markExhausted(resp *http.Response, f dialect.Failure, body []byte, reset time.Duration, now time.Time) {
	words := said{f.Code, f.Message}
	if c.cfg.plan.Observe {
		c.cfg.health.observed(words, now)
		return
	}
	m := c.repeated(resp, body)
	if m == nil {
		m = c.retold(f)
	}
	m.said = words
	c.cfg.quotas.set(c.account, m, reset, c.keyed, now)
}

// repeated is a mark with the provider's own answer, without its compression, which another caller may not accept; nil
// if that is no answer to give again: it is too large, cannot be read, or has the status of a success.
func (c *call) repeated(resp *http.Response, body []byte) *mark {
	if resp.StatusCode < http.StatusMultipleChoices {
		return nil
	}
	if encoding(resp.Header) != "" {
		if body = failure.Plain(resp.Header, body); len(body) == 0 {
			return nil
		}
	}
	if len(body) > maxMarkedBody {
		return nil
	}
	kept := http.Header{}
	if values := resp.Header["Content-Type"]; len(values) > 0 {
		kept["Content-Type"] = values
	}
	return &mark{status: resp.StatusCode, header: kept, body: bytes.Clone(body)}
}

// retold is a mark with an answer of ours, which has the provider's words in it.
func (c *call) retold(f dialect.Failure) *mark {
	why := c.cfg.display + "'s quota is spent"
	if f.Message != "" {
		why += " (" + f.Message + ")"
	}
	status, header, body := c.cfg.dialect.Refusal(dialect.Refusal{
		Status: http.StatusTooManyRequests, Reason: reasonQuota, RetryAfter: probeEvery,
		Message: "headgate: " + c.cfg.who + ": " + why + ". Not sent to " + c.cfg.display + ".",
	})
	return &mark{status: status, header: header, body: body}
}

// quotaReset is when an exhausted quota is back: what the provider says, or the end of its day where its documents
// say that allowances begin anew with the day. What it says beside that is often the wait of another limit.
func (c *call) quotaReset(wait time.Duration, now time.Time) time.Duration {
	if end, ok := c.cfg.facts.DayEnd(now); ok {
		return max(wait, end.Sub(now))
	}
	return wait
}

// markedExhausted answers a call whose account is marked, as the provider answered the last one.
func (c *call) markedExhausted() bool {
	if c.cfg.plan.Observe || c.cfg.quotas.marked.Load() == 0 {
		return false
	}
	m, wait := c.cfg.quotas.check(c.account, c.now())
	if m == nil {
		return false
	}
	c.lane.Refused(reasonQuota)
	c.reason, c.outcome = reasonQuota, outcomeRefused
	if c.from != nil {
		return true
	}
	h := c.w.Header()
	for name, values := range m.header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	h.Set("Retry-After", strconv.FormatInt(wholeSeconds(wait), 10))
	h.Set(headerShouldRetry, "false")
	h.Set(HeaderReason, reasonQuota)
	h.Set("Content-Length", strconv.Itoa(len(m.body)))
	c.w.WriteHeader(m.status)
	_, _ = c.w.Write(m.body)
	c.status = m.status
	return true
}

// log writes one line for each call that did not simply go through.
func (c *call) log() {
	log := c.g.opts.Log
	level := slog.LevelInfo
	if c.outcome == outcomeSuccess && c.sends <= 1 && c.source == tally.WaitNone || c.lane == nil ||
		c.later != nil && c.sends == 0 {
		level = slog.LevelDebug
	}
	ctx := c.r.Context()
	if !log.Enabled(ctx, level) {
		return
	}
	lane := ""
	if c.lane != nil {
		lane = c.lane.Name
	}
	attrs := []slog.Attr{
		slog.String("route", c.cfg.plan.Name), slog.String("policy", c.cfg.policy), slog.String("lane", lane),
		slog.String("operation", c.op.Name), slog.String("model", c.req.Model), slog.String("outcome", c.outcome),
		slog.String("reason", c.reason), slog.Int("status", c.status), slog.Int("attempts", c.sends),
		slog.Duration("wait", c.waited), slog.String("waitSource", c.source),
		slog.Duration("took", c.now().Sub(c.arrived)), slog.String("requestID", c.id()),
		slog.String("upstreamRequestID", c.upstreamID),
	}
	if hop := c.hop(); hop != "" {
		attrs = append(attrs, slog.String("failover", hop))
	}
	log.LogAttrs(ctx, level, "call", attrs...)
}

// id names the call in the log; it is drawn only where a line is written.
func (c *call) id() string {
	return strconv.FormatUint(c.g.nextID(), 36)
}
