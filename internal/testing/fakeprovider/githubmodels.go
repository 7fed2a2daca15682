// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// gitHubProvider names the limit that refuses, and the seconds until it allows again.
var gitHubProvider = &provider{
	dialect: GitHubModels, find: gitHubPath,
	api: flavour{
		limits: gitHubLimits, shape: gitHubShape, throttled: gitHubThrottle,
		spent: func(c *call) problem {
			return gitHubRefusal("UserByModelByDay", 50, day, ceilTo(c.untilMidnight(), time.Second))
		},
		busy:         problem{http.StatusServiceUnavailable, "", "ServiceUnavailable", "Service unavailable", nil},
		unauthorized: problem{http.StatusUnauthorized, "", "unauthorized", "Bad credentials", nil},
	},
	limits:  []Limit{perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceSeconds, style: chatStyle{},
}

var gitHubPrefix = regexp.MustCompile("^(?:/orgs/[^/]+)?/inference/")

func gitHubPath(method, path string) target {
	if prefix := gitHubPrefix.FindString(path); prefix != "" {
		return openAIOperation(method, path[len(prefix):])
	}
	return target{}
}

func gitHubLimits(h http.Header, c *call, budgets []level) {
	report(nil, openAINames...)(h, c, budgets)
	for _, b := range budgets {
		h.Set("X-Ratelimit-Renewalperiod-"+string(b.Budget), integer(b.Window.Seconds()))
	}
}

func gitHubThrottle(c *call, t throttled) problem {
	name := "UserByMinute"
	if t.level.Window >= day {
		name = "UserByModelByDay"
	}
	wait := int64(0)
	if c.guided(t) {
		wait = t.seconds()
	}
	return gitHubRefusal(name, int64(t.level.Amount), t.level.Window, wait)
}

func gitHubRefusal(name string, amount int64, window time.Duration, seconds int64) problem {
	p := problem{
		http.StatusTooManyRequests, "", "RateLimitReached", fmt.Sprintf("Rate limit of %d per %s exceeded for %s.", amount,
			integer(window.Seconds())+"s", name), map[string]string{"X-Ratelimit-Type": name},
	}
	if seconds > 0 {
		wait := strconv.FormatInt(seconds, 10)
		p.message += " Please wait " + wait + " seconds before retrying."
		p.headers["X-Ratelimit-Timeremaining"], p.headers["Retry-After"] = wait, wait
	}
	return p
}

type gitHubError struct {
	Error gitHubMessage `json:"error"`
}

type gitHubMessage struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details string `json:"details"`
}

func gitHubShape(_ *call, p problem) any {
	return gitHubError{gitHubMessage{cmp.Or(p.code, "BadRequest"), p.message, p.message}}
}
