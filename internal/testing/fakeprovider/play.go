// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"time"
)

// before plays a fault that answers in place of the provider; false if the call is to go on.
func (f *Fault) before(c *call) bool {
	switch f.Kind {
	case FaultThrottle:
		if c.sleep(time.Duration(f.FirstByteMillis) * time.Millisecond) {
			status, body := f.throttle(c)
			c.refuse(status, "Fault", body)
		}
	case FaultOverload:
		status, body := c.api.overload(c)
		c.refuse(status, "Fault", body)
	case FaultQuota:
		status, body := c.api.quota(c)
		c.refuse(status, "Fault", body)
	case FaultRejectStreamOptions:
		status, body := c.api.fault(c, http.StatusBadRequest, "Unrecognized request argument supplied: stream_options")
		c.refuse(status, "Fault", body)
	case FaultRespond:
		c.refuse(f.Status, "Fault", f.respondBody(c))
	case FaultHang:
		f.hang(c)
	case FaultReset:
		if f.AfterContent > 0 {
			return false
		}
		c.note(func(a *Arrival) { a.Verdict = "Fault" })
		c.reset()
	default:
		return false
	}
	return true
}

// throttle is a refusal that names the first of the dialect's limits, and a time only where the provider tells it
// in the body alone.
func (f *Fault) throttle(c *call) (int, any) {
	t := throttled{cost: 1, wait: f.wait(), level: level{Limit: Limit{Budget: Requests, Amount: 1, Window: time.Minute}}}
	if limits := c.s.opts.Profiles[c.dialect].Limits; len(limits) > 0 {
		t.level.Limit = limits[0]
	}
	return c.api.throttle(c, t)
}

func (f *Fault) respondBody(c *call) any {
	if f.Body != "" {
		return []byte(f.Body)
	}
	_, body := c.api.fault(c, f.Status, http.StatusText(f.Status))
	return body
}

func (f *Fault) hang(c *call) {
	c.note(func(a *Arrival) { a.Verdict = "Fault" })
	if c.sleep(time.Duration(f.FirstByteMillis) * time.Millisecond) {
		c.reset()
	}
}

// during plays a fault on the answer to a call without a stream; false if the call is to go on.
func (f *Fault) during(c *call) bool {
	switch f.Kind {
	case FaultSlow:
		return !c.sleep(f.firstByte())
	case FaultReset:
		c.reset()
		return true
	default:
		return false
	}
}

// breaks says whether the stream ends before e, and ends it.
func (f *Fault) breaks(st *streamer, e event) bool {
	switch f.Kind {
	case FaultStreamOverload, FaultReset, FaultTruncate:
	default:
		return false
	}
	if e.preamble || st.content < f.AfterContent {
		return false
	}
	switch f.Kind {
	case FaultStreamOverload:
		for _, e := range st.api.streamError(st.call) {
			st.queue(e)
		}
		st.frames.end(&st.buf)
		st.flush()
	case FaultReset:
		st.flush()
		st.reset()
	default:
		st.flush()
	}
	return true
}

// holdsBack says whether what was queued waits for the event after it.
func (f *Fault) holdsBack(st *streamer) bool {
	return f.OneWrite && st.content > 0 && st.content == f.AfterContent
}
