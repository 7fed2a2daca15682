// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "net/http"

// flavour is what a provider that copies OpenAI's API says around an answer. What is nil or zero is as with
// OpenAI.
type flavour struct {
	openAIAPI
	// limits writes the headers of the account's budgets; nil writes none.
	limits func(h http.Header, c *call, budgets []level)
	// shape writes a problem as the provider writes it.
	shape func(c *call, p problem) any
	// throttled is a refusal for lack of budget.
	throttled func(c *call, t throttled) problem
	// spent is the problem of an account without money; nil is as with OpenAI.
	spent func(c *call) problem
	// busy and unauthorized are those of a provider without capacity and of a key that is not good.
	busy, unauthorized problem
	// broken is an error inside a stream where that has a shape of its own.
	broken func(c *call, p problem) any
}

// problem is a failure in no provider's shape.
type problem struct {
	status  int
	kind    string
	code    string
	message string
	headers map[string]string
}

// chatStyle is how a provider's chat answers differ from OpenAI's.
type chatStyle struct {
	usage usagePlace
	// plain answers have neither service_tier nor system_fingerprint.
	plain bool
	// comment comes before the first event of a stream.
	comment string
	// cacheHits: usage has the tokens read from the cache, and the others, in fields of their own.
	cacheHits bool
	// reasoningOutside: completion tokens do not contain those of reasoning.
	reasoningOutside bool
	// promptFilter begins a stream with what a filter says of the prompt, in a chunk without choices.
	promptFilter bool
	// xGroq repeats the usage of a stream under x_groq.
	xGroq bool
}

// usagePlace is where a stream reports usage.
type usagePlace int

const (
	// usageAsked: in a chunk of its own, if asked for.
	usageAsked usagePlace = iota
	// usageOwn: in a chunk of its own, always.
	usageOwn
	// usageLast: in the chunk with the finish reason, always.
	usageLast
	// usageEach: in every chunk, counting up.
	usageEach
)

func (f flavour) limitHeaders(h http.Header, c *call, budgets []level) {
	if f.limits != nil {
		f.limits(h, c, budgets)
	}
}

// tell writes a problem's headers, and makes its body.
func (f flavour) tell(c *call, p problem) (int, any) {
	for name, value := range p.headers {
		c.w.Header().Set(name, value)
	}
	return p.status, f.body(c, p)
}

func (f flavour) body(c *call, p problem) any {
	if f.shape == nil {
		return openAIErr(p.kind, p.code, p.message)
	}
	return f.shape(c, p)
}

func (f flavour) throttle(c *call, t throttled) (int, any) {
	if f.throttled == nil {
		return f.openAIAPI.throttle(c, t)
	}
	return f.tell(c, f.throttled(c, t))
}

func (f flavour) quota(c *call) (int, any) {
	if f.spent == nil {
		return f.openAIAPI.quota(c)
	}
	return f.tell(c, f.spent(c))
}

func (f flavour) overload(c *call) (int, any) { return f.tell(c, f.busy) }

// always is a problem that does not depend on the call.
func always(p problem) func(*call) problem { return func(*call) problem { return p } }

func (f flavour) fault(c *call, status int, message string) (int, any) {
	if status == http.StatusUnauthorized && f.unauthorized.status != 0 {
		return f.tell(c, f.unauthorized)
	}
	e := c.openAIFault(status, message).Error
	p := problem{status: status, kind: e.Type, message: e.Message}
	if e.Code != nil {
		p.code = *e.Code
	}
	return f.tell(c, p)
}

// streamError is what the provider would have said had the stream not begun.
func (f flavour) streamError(c *call) []event {
	if c.op == &responsesOperation {
		return responsesFailure(c)
	}
	if f.broken != nil {
		return []event{{data: f.broken(c, f.busy)}}
	}
	return []event{{data: f.body(c, f.busy)}}
}
