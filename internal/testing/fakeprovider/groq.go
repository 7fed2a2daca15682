// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// groqProvider: requests are reported by the day, tokens by the minute; the limit of requests per minute is in no
// header.
var groqProvider = &provider{
	dialect: Groq, find: prefixed("/openai/v1"),
	api: flavour{
		limits: report(resetDuration,
			limitLine{budget: Requests, daily: true, suffix: "Requests"}, limitLine{budget: Tokens, suffix: "Tokens"}),
		throttled: groqThrottle,
		spent: always(problem{
			http.StatusTooManyRequests, "tokens", "rate_limit_exceeded", "Rate limit reached for model on tokens per day " +
				"(TPD): Limit 100000, Used 99900, Requested 1000. Please try again in 12m57.6s.", nil,
		}),
		busy: problem{
			statusFlexCapacity, "internal_server_error", "capacity_exceeded", "Flex tier capacity exceeded, please try again " +
				"later.", nil,
		},
		unauthorized: problem{http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Invalid API Key", nil},
	},
	limits:  []Limit{{Budget: Requests, Amount: perDay, Window: day}, perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceSeconds, style: chatStyle{xGroq: true},
}

// statusFlexCapacity is Groq's own.
const statusFlexCapacity = 498

// groqThrottle: a call that can never fit is a body too large, with a time that does not help.
func groqThrottle(c *call, t throttled) problem {
	e := c.openAIThrottle(t).Error
	p := problem{http.StatusTooManyRequests, e.Type, "rate_limit_exceeded", e.Message, nil}
	p.message = strings.Replace(p.message, "reached for ", "reached for model ", 1)
	p.message, _, _ = strings.Cut(p.message, " Visit ")
	p.message += " Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing"
	if t.never {
		p.status = http.StatusRequestEntityTooLarge
		p.headers = map[string]string{"Retry-After": strconv.FormatInt(max(1, ceilTo(t.level.untilFull, time.Second)), 10)}
		p.message = fmt.Sprintf("Request too large for model `%s` in organization %s service tier `on_demand` on tokens "+
			"per minute (TPM): Limit %s, Requested %s, please reduce your message size and try again.",
			clip(c.req.Model, maxModelName), organization, integer(t.level.Amount), integer(t.cost))
	}
	return p
}
