// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"strconv"
)

// openRouterProvider tells limits only when it refuses, and says that it is at work in comments.
var openRouterProvider = &provider{
	dialect: OpenRouter, find: prefixed("/api/v1"),
	api: flavour{
		limits: openRouterLimits, shape: openRouterShape, broken: openRouterBroken,
		throttled: func(_ *call, t throttled) problem {
			window, _ := windowName(t.level.Window)
			return problem{
				http.StatusTooManyRequests, "", "rate_limit_exceeded",
				fmt.Sprintf("Rate limit exceeded: free-models-per-%s. ", window), nil,
			}
		},
		spent: always(problem{
			http.StatusPaymentRequired, "openrouter_credits", "", "Insufficient credits. Add more using " +
				"https://openrouter.ai/settings/credits", nil,
		}),
		busy: problem{
			http.StatusServiceUnavailable, "", "", "No available model provider that meets your routing requirements", nil,
		},
		unauthorized: problem{http.StatusUnauthorized, "", "", "No auth credentials found", nil},
	},
	limits:  []Limit{perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceSeconds,
	style: chatStyle{usage: usageOwn, plain: true, comment: "OPENROUTER PROCESSING"},
}

// openRouterLimits are of the budget that is scarcest; the reset is a time in milliseconds.
func openRouterLimits(h http.Header, c *call, budgets []level) {
	if c.status != http.StatusTooManyRequests || len(budgets) == 0 {
		return
	}
	scarcest := budgets[0]
	for _, b := range budgets {
		if b.remaining/b.Burst < scarcest.remaining/scarcest.Burst {
			scarcest = b
		}
	}
	h.Set("X-Ratelimit-Limit", integer(scarcest.Amount))
	h.Set("X-Ratelimit-Remaining", c.remaining(scarcest))
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(c.s.clock().Add(scarcest.untilFull).UnixMilli(), 10))
}

type openRouterError struct {
	Error openRouterProblem `json:"error"`
}

type openRouterProblem struct {
	Message  string            `json:"message"`
	Code     int               `json:"code"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

func openRouterOf(p problem) openRouterProblem {
	out := openRouterProblem{Message: p.message, Code: p.status}
	switch {
	case p.status == http.StatusPaymentRequired:
		out.Metadata = map[string]string{"limit_source": p.kind}
	case p.code != "":
		out.Metadata = map[string]string{"error_type": p.code}
	}
	return out
}

func openRouterShape(_ *call, p problem) any { return openRouterError{openRouterOf(p)} }

// openRouterBroken is a chunk of the answer with an error beside its choices.
func openRouterBroken(c *call, p problem) any {
	chunk := c.chatChunk(chunkChoice{Delta: delta{}, FinishReason: pointer("error")})
	return struct {
		chatChunk
		Error openRouterProblem `json:"error"`
	}{chunk, openRouterOf(p)}
}
