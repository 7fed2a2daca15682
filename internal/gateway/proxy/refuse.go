// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/reply"
)

// Headers of our own on answers.
const (
	// HeaderReason says why a call was not made or not made again.
	HeaderReason = "X-Headgate-Reason"
	// HeaderLimit names the limit that refused, PROVIDER/LIMIT.
	HeaderLimit = "X-Headgate-Limit"

	headerShouldRetry = "X-Should-Retry"
)

// The reasons beside those of internal/budget and of internal/policy/decide.
const (
	reasonQuota      = "QuotaExhausted"
	reasonNoMemory   = "MemoryBudget"
	reasonCredential = "Credential"
	reasonUpstream   = "Unreachable"
	reasonTruncated  = "Truncated"
)

// wholeSeconds rounds a wait up, to at least a second: an early retry is a certain refusal.
func wholeSeconds(d time.Duration) int64 {
	return max(1, int64(math.Ceil(d.Seconds())))
}

// problemBody is the error member of an answer without a provider's shape.
type problemBody struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// writeProblem answers without a provider's shape.
func writeProblem(w http.ResponseWriter, p *problem) {
	var doc struct {
		Error problemBody `json:"error"`
	}
	doc.Error = problemBody{Type: p.code, Message: p.message}
	body := reply.JSON(doc)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(headerShouldRetry, "false")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.status)
	_, _ = w.Write(body)
}

// refuse answers in the provider's error shape. A call that failed over leaves the answer to where it came from.
func (c *call) refuse(r dialect.Refusal) {
	c.stays()
	c.reason = r.Reason
	if c.from != nil {
		return
	}
	status := r.Status
	if status == http.StatusBadGateway {
		// The shape is that of any failure on the server's side.
		r.Status = http.StatusServiceUnavailable
	}
	_, header, body := c.cfg.dialect.Refusal(r)
	c.discard()
	dst := c.w.Header()
	for name, values := range header {
		dst[http.CanonicalHeaderKey(name)] = values
	}
	dst.Set("Retry-After", strconv.FormatInt(wholeSeconds(r.RetryAfter), 10))
	dst.Set(headerShouldRetry, "false")
	dst.Set(HeaderReason, r.Reason)
	if r.Limit != "" {
		dst.Set(HeaderLimit, r.Limit)
	}
	dst.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body)
	c.status = status
}

// refuseAdmission answers a call that no budget lets pass.
func (c *call) refuseAdmission(v admission.Verdict) {
	limit := ""
	if v.Limit != "" {
		limit = c.cfg.plan.Name + "/" + v.Limit
	}
	reason := c.spokenReason(string(v.Reason))
	c.lane.Refused(reason)
	c.outcome = outcomeRefused
	c.refuse(dialect.Refusal{
		Status: http.StatusTooManyRequests, Message: c.message(v, limit), Reason: reason, Limit: limit,
		RetryAfter: retryAfter(v),
	})
}

// untilAnEdit is what a client is told whose call no wait cures: only an edit of the policy does, and a short
// wait would have it ask again and again.
const untilAnEdit = time.Hour

func retryAfter(v admission.Verdict) time.Duration {
	if v.Reason == budget.ReasonTooLarge || v.Reason == budget.ReasonNothing {
		return max(v.Wait, untilAnEdit)
	}
	return v.Wait
}

// message says which limit is used up, when the call would fit, and that the provider never saw it.
func (c *call) message(v admission.Verdict, limit string) string {
	who := c.cfg.who
	used := limit
	if v.AtProvider {
		used += " at the provider"
	}
	if v.Amount != "" {
		used += " (" + v.Amount + ")"
	}
	if limit == "" {
		used = c.cfg.plan.Name
	}
	tail := c.notSent()
	fits := "fits in " + spoken(v.Wait)
	switch v.Reason {
	case budget.ReasonDeadline:
		return fmt.Sprintf("headgate: %s: %s is used up; %s, your deadline is %s. %s",
			who, used, fits, spoken(c.deadline.Sub(c.arrived)), tail)
	case budget.ReasonTooLarge:
		return fmt.Sprintf("headgate: %s: this call needs about %s of %s, more than it ever holds. %s",
			who, admission.Rounded(v.Need), used, tail)
	case budget.ReasonNothing:
		return fmt.Sprintf("headgate: %s: %s lets nothing pass. %s", who, used, tail)
	case budget.ReasonQueueFull:
		return fmt.Sprintf("headgate: %s: %s is used up and the queue of lane %s is full; %s. %s",
			who, used, c.lane.Name, fits, tail)
	case budget.ReasonQueueExpired:
		return fmt.Sprintf("headgate: %s: %s is used up; waited %s in lane %s; %s. %s",
			who, used, spoken(c.now().Sub(c.arrived)), c.lane.Name, fits, tail)
	case budget.ReasonDisplaced:
		return fmt.Sprintf("headgate: %s: %s is used up and a call of a higher priority took this one's place in the queue of lane %s; %s. %s",
			who, used, c.lane.Name, fits, tail)
	case budget.ReasonLanePaused:
		return fmt.Sprintf("headgate: %s: %s is used up and the queues are nearly full: lane %s takes no more calls until they are shorter; %s. %s",
			who, used, c.lane.Name, fits, tail)
	case budget.ReasonNone, budget.ReasonCapReached:
	}
	return fmt.Sprintf("headgate: %s: %s is used up; %s. %s", who, used, fits, tail)
}

func (c *call) notSent() string {
	if c.sends > 0 {
		return "Not sent to " + c.cfg.display + " again."
	}
	return "Not sent to " + c.cfg.display + "."
}

// spoken is a duration as people say it: 27s, 300ms, 2m5s.
func spoken(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second && d%time.Second != 0:
		return strconv.FormatFloat(math.Ceil(d.Seconds()*10)/10, 'f', -1, 64) + "s"
	case d < time.Minute:
		return strconv.FormatInt(wholeSeconds(d), 10) + "s"
	case d < time.Hour:
		return trimZero(time.Duration(wholeSeconds(d)) * time.Second)
	}
	return trimZero(d.Round(time.Minute))
}

// trimZero leaves out the zero units at the end: 2m0s is 2m.
func trimZero(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
