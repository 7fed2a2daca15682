// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package referee

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// clock is the provider's own.
func (p *Provider) clock(now time.Time) time.Time { return now.Add(p.cfg.ClockSkew) }

// headers are those of every answer. Where the dialect's are not known, there are none but the date.
func (p *Provider) headers(now time.Time, told bool) http.Header {
	h := http.Header{"Date": {p.clock(now).Format(http.TimeFormat)}}
	if !told || !p.cfg.Headers.Remaining {
		return h
	}
	for i := range p.limits {
		l := &p.limits[i]
		if l.slots != nil || l.Window > time.Minute {
			continue // what is said is of the short windows
		}
		if p.facts.Name == "Anthropic" {
			p.anthropic(h, l, now)
		} else {
			p.common(h, l, now)
		}
	}
	return h
}

var anthropicNames = map[string]string{
	plan.Requests: "Requests", plan.Tokens: "Tokens", plan.InputTokens: "Input-Tokens", plan.OutputTokens: "Output-Tokens",
}

// anthropic tells the time at which the bucket will be full, by the provider's clock, in whole seconds.
func (p *Provider) anthropic(h http.Header, l *limit, now time.Time) {
	prefix := "Anthropic-Ratelimit-" + anthropicNames[l.Budget]
	full := p.clock(now).Add(l.UntilFull(now))
	if whole := full.Truncate(time.Second); whole.Before(full) {
		full = whole.Add(time.Second)
	}
	h[prefix+"-Limit"] = []string{whole(l.Amount)}
	h[prefix+"-Remaining"] = []string{p.remaining(l, now)}
	h[prefix+"-Reset"] = []string{full.UTC().Format(time.RFC3339)}
}

// common is what OpenAI began with, and many have: how long until the bucket is full.
func (p *Provider) common(h http.Header, l *limit, now time.Time) {
	suffix := "Tokens"
	switch l.Budget {
	case plan.Requests:
		suffix = "Requests"
		if p.facts.Name == "Groq" {
			return // there it is of the day
		}
	case plan.Tokens:
	default:
		return
	}
	full := l.UntilFull(now)
	if rest := full % time.Millisecond; rest > 0 {
		full += time.Millisecond - rest
	}
	h["X-Ratelimit-Limit-"+suffix] = []string{whole(l.Amount)}
	h["X-Ratelimit-Remaining-"+suffix] = []string{p.remaining(l, now)}
	h["X-Ratelimit-Reset-"+suffix] = []string{full.String()}
}

// remaining is the level, tokens rounded to the provider's step.
func (p *Provider) remaining(l *limit, now time.Time) string {
	level := max(0, l.Level(now)+epsilon)
	if step := p.cfg.Headers.RoundTo; l.Budget != plan.Requests && step > 1 {
		return whole(math.Round(level/step) * step)
	}
	return whole(math.Floor(level))
}

func whole(v float64) string { return strconv.FormatFloat(math.Floor(v), 'f', 0, 64) }

// throttle is a 429 that names the limit, with the time until the call would fit.
func (p *Provider) throttle(short *limit, r Request, now time.Time, told bool) Verdict {
	v := Verdict{Status: http.StatusTooManyRequests, Header: p.headers(now, told), Body: p.body(short)}
	if short.slots != nil || !told || !p.cfg.Headers.RetryAfter {
		return v
	}
	wait, ok := short.Until(now, p.atAdmission(short.Budget, r))
	if !ok {
		return v
	}
	seconds := max(1, int64(math.Ceil(wait.Seconds())))
	v.Header["Retry-After"] = []string{strconv.FormatInt(seconds, 10)}
	v.RetryAfter, v.Waits = time.Duration(seconds)*time.Second, true
	return v
}

var spoken = map[string]string{
	plan.Requests: "requests", plan.Tokens: "tokens", plan.InputTokens: "input tokens", plan.OutputTokens: "output tokens",
	plan.InFlight: "concurrent requests",
}

func (p *Provider) body(short *limit) []byte {
	if p.facts.Name == "Anthropic" {
		return fmt.Appendf(nil, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your `+
			`organization's rate limit of %s %s per minute. Please try again later."}}`, whole(short.Amount), spoken[short.Budget])
	}
	return fmt.Appendf(nil, `{"error":{"message":"Rate limit reached on %s per min. Please try again later.","type":%q,`+
		`"param":null,"code":"rate_limit_exceeded"}}`, spoken[short.Budget], spoken[short.Budget])
}

// overload is a provider without capacity: nothing is said of when.
func (p *Provider) overload(now time.Time) Verdict {
	return Verdict{
		Status: 529, Header: http.Header{"Date": {p.clock(now).Format(http.TimeFormat)}},
		Body: []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	}
}

// Headers are those of a success that begins now.
func (h *Hold) Headers(now time.Time, draw float64) http.Header {
	return h.p.headers(now, h.p.tells(draw))
}

// tells says by chance whether an answer tells anything.
func (p *Provider) tells(draw float64) bool { return draw*100 >= p.cfg.Headers.MissingPercent }
