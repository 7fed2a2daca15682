// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"net/http"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
)

// Alone is what an SDK would do with a response if nothing stood between it and the provider.
type Alone struct {
	SDK  string
	Does string
	// Verdict says what becomes of that.
	Verdict string
	// Off says how its retries are switched off.
	Off string
}

// alone says what each SDK of the dialect would do.
func (r Reading) alone(d dialect.Dialect, resp Response) (out []Alone) {
	for _, s := range sdksOf(d.Facts().Name) {
		from, to, does := s.decide(r, resp)
		a := Alone{SDK: s.name, Does: does, Off: s.off}
		if to >= 0 {
			a.Verdict = r.verdict(d.Facts(), from, to)
		}
		out = append(out, a)
	}
	return out
}

// decide is when an SDK's first retry would go out; to is negative where none would, or where that is not known.
func (s sdk) decide(r Reading, resp Response) (from, to time.Duration, does string) {
	if why := s.givesUp(r, resp); why != "" {
		return 0, -1, why
	}
	stated, has := s.stated(r, resp)
	switch {
	case s.weighs && resp.Status == http.StatusTooManyRequests:
		return s.weigh(r, stated, has)
	case has && (s.longest == 0 || stated <= s.longest):
		return stated, stated + s.added, "retries after " + span(stated, stated+s.added)
	case has && s.beyond == aboveStop:
		return 0, -1, fmt.Sprintf("gives the error to the app: %s is above its %s", duration(stated), duration(s.longest))
	case has && s.beyond == aboveCut:
		return s.longest, s.longest, fmt.Sprintf("cuts %s to %s and retries then", duration(stated), duration(s.longest))
	case s.first == 0:
		return 0, -1, "retries after a backoff of its own"
	}
	from, to = scaled(s.first, s.from), scaled(s.first, s.to)
	if has && s.beyond == aboveOwn {
		return from, to, fmt.Sprintf("ignores %s and retries after %s", duration(stated), span(from, to))
	}
	return from, to, "retries after " + span(from, to)
}

// givesUp says why an SDK does not retry, whatever wait is stated; "" where it may.
func (s sdk) givesUp(r Reading, resp Response) string {
	switch {
	case r.InStream && !r.Stream:
		return fmt.Sprintf("takes it for a success: it looks at the status, %d", resp.Status)
	case r.InStream:
		return "gives the error to the app: the stream has begun"
	case s.retries == 0:
		return "gives the error to the app: it retries only when told to"
	case s.obeys && r.Reading.ShouldRetry == "false":
		return "gives the error to the app, as x-should-retry says"
	case !s.retry.includes(resp.Status) && (!s.obeys || r.Reading.ShouldRetry != "true"):
		return fmt.Sprintf("gives the error to the app: it does not retry %d", resp.Status)
	}
	return ""
}

// weigh is what an SDK does with a 429 whose stated wait says whether it retries, not when.
func (s sdk) weigh(r Reading, stated time.Duration, has bool) (from, to time.Duration, does string) {
	if r.Reading.Source == dialect.SourceBody && !has {
		stated, has = r.Reading.RetryAfter, true
	}
	switch {
	case r.Class == dialect.ClassQuota:
		return 0, -1, "gives the error to the app: it knows a spent quota"
	case !has:
		return 0, -1, "gives the error to the app: no wait is stated"
	case stated > s.longest:
		return 0, -1, fmt.Sprintf("gives the error to the app: %s is above its %s", duration(stated), duration(s.longest))
	}
	from, to = scaled(s.first, s.from), scaled(s.first, s.to)
	return from, to, fmt.Sprintf("retries after %s, as %s is below its %s", span(from, to), duration(stated), duration(s.longest))
}

func scaled(d time.Duration, factor float64) time.Duration { return time.Duration(float64(d) * factor) }

func span(from, to time.Duration) string {
	if from == to {
		return duration(from)
	}
	return duration(from) + " to " + duration(to)
}

// stated is the wait that an SDK finds in a response.
func (s sdk) stated(r Reading, resp Response) (time.Duration, bool) {
	h := http.Header{}
	if s.reads&hintMillis != 0 {
		h["Retry-After-Ms"] = resp.Header["Retry-After-Ms"]
	}
	if s.reads&(hintSeconds|hintDate) != 0 {
		h["Retry-After"] = resp.Header["Retry-After"]
	}
	if wait, source, _ := guidance.RetryAfter(h, r.Reading.Reference); source != dialect.SourceNone {
		return wait, true
	}
	if s.reads&hintReset == 0 || len(resp.Header["X-Ratelimit-Reset"]) == 0 {
		return 0, false
	}
	for _, b := range r.Reading.Budgets {
		if b.HasReset {
			return b.Reset, true
		}
	}
	return 0, false
}

// verdict compares an SDK's retry with what the provider said.
func (r Reading) verdict(f facts.Facts, from, to time.Duration) string {
	switch r.Class {
	case dialect.ClassQuota:
		return "in vain: the quota stays spent"
	case dialect.ClassPermanent:
		return "in vain: the same call fails again"
	default:
	}
	wait, source, ok := r.Reading.Wait(r.Class)
	switch {
	case !ok:
		return "a guess"
	case from >= wait:
		return "in time"
	case source == dialect.SourceResetHeader && f.ResetMeans == facts.ResetFull:
		return "early, unless the call is small"
	case to < wait:
		return "EARLY: refused again"
	}
	return "may be early"
}
