// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"time"
)

// huggingFaceProvider speaks the IETF's draft headers, nearly, and refuses in plain text.
var huggingFaceProvider = &provider{
	dialect: HuggingFace, find: prefixed("/v1"),
	api: flavour{
		limits: huggingFaceLimits, shape: huggingFaceShape,
		throttled: func(*call, throttled) problem {
			return problem{status: http.StatusTooManyRequests, message: "Too Many Requests"}
		},
		spent: always(problem{
			http.StatusPaymentRequired, "", "", outOfCredits, map[string]string{"X-Error-Message": outOfCredits},
		}),
		busy:         problem{status: http.StatusServiceUnavailable, message: "Model is too busy"},
		unauthorized: problem{status: http.StatusUnauthorized, message: "Invalid username or password."},
	},
	limits:  []Limit{perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn, style: chatStyle{plain: true},
}

const outOfCredits = "You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x " +
	"more monthly included credits."

// huggingFaceLimits are those of requests, with the time until there are more. The policy is not a valid structured field with the provider either.
func huggingFaceLimits(h http.Header, c *call, budgets []level) {
	for _, b := range budgets {
		if b.Budget == Requests {
			untilMore := b.untilFull
			if perSecond := b.Amount / b.Window.Seconds(); b.remaining < 1 {
				untilMore = time.Duration((1 - b.remaining) / perSecond * float64(time.Second))
			}
			h.Set("Ratelimit", fmt.Sprintf(`"api";r=%s;t=%d`, c.remaining(b), ceilTo(untilMore, time.Second)))
			h.Set("Ratelimit-Policy", fmt.Sprintf(`"fixed window";"api";q=%s;w=%s`, integer(b.Amount),
				integer(b.Window.Seconds())))
		}
	}
}

type plainError struct {
	Error string `json:"error"`
}

func huggingFaceShape(c *call, p problem) any {
	if p.status == http.StatusTooManyRequests {
		return typed{"text/plain; charset=utf-8", []byte(p.message)}
	}
	return plainError{p.message}
}
