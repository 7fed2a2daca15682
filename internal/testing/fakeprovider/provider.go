// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"strings"
	"time"
)

// provider is one API that is simulated.
type provider struct {
	dialect Dialect
	// find is the table of its paths.
	find func(method, path string) target
	api  api
	keys keyPlaces
	// refuses says what is wrong with a request's address or headers; status is 0 if nothing is. May be nil.
	refuses func(r *http.Request) (problem string, status int)
	// limits, charges and guidance make the default profile, beside 4,000 requests a minute.
	limits   []Limit
	charges  Charges
	guidance Guidance
	// roundedTo is the step that remaining tokens are rounded to; 1 if 0.
	roundedTo float64
	// json is the type of its documents; application/json if empty.
	json string
	// style is how its OpenAI-like answers differ from OpenAI's.
	style chatStyle
	// cacheOutside: tokens read from the cache and written to it are not contained in the input reported.
	cacheOutside bool
	// cacheReserved: tokens read from the cache are reserved at admission, and given back.
	cacheReserved bool
}

// providers in the order in which they are asked whether a path without a prefix is theirs.
var providers = []*provider{
	openAIProvider, anthropicProvider, geminiProvider, vertexProvider, bedrockProvider, cohereProvider,
	selfHostedProvider, azureProvider, mistralProvider, groqProvider, cerebrasProvider, togetherProvider,
	fireworksProvider, deepSeekProvider, xaiProvider, perplexityProvider, openRouterProvider, gitHubProvider,
	huggingFaceProvider, genericProvider,
}

// prefix is what the path of a base URL begins with to name a provider: /_p/groq.
const providerPrefix = "/_p/"

func providerOf(d Dialect) *provider {
	for _, p := range providers {
		if p.dialect == d {
			return p
		}
	}
	return nil
}

// byRoute finds a provider by its name in lower case.
func byRoute(name string) *provider {
	for _, p := range providers {
		if strings.ToLower(string(p.dialect)) == name {
			return p
		}
	}
	return nil
}

// destination finds whom a request is for, and what it asks; the provider to say so in if it asks nothing.
func (s *Server) destination(r *http.Request) (*provider, target) {
	path := "/" + strings.Trim(r.URL.Path, "/")
	if rest, ok := strings.CutPrefix(path, providerPrefix); ok {
		name, below, _ := strings.Cut(rest, "/")
		if p := byRoute(name); p != nil {
			return p, p.find(r.Method, "/"+below)
		}
		return genericProvider, target{}
	}
	if p := providerOf(s.opts.Dialect); p != nil {
		return p, p.find(r.Method, path)
	}
	return guess(r, path)
}

// guess goes by what only one provider's SDKs send, and then by the first table that has the path.
func guess(r *http.Request, path string) (*provider, target) {
	if r.Header.Get("Anthropic-Version") != "" || strings.HasPrefix(path, "/v1/messages") {
		return anthropicProvider, anthropicProvider.find(r.Method, path)
	}
	for _, p := range providers {
		if t := p.find(r.Method, path); t.op != nil {
			return p, t
		}
	}
	return openAIProvider, target{}
}

// Dialects are the names of all that is simulated.
func Dialects() []Dialect {
	out := make([]Dialect, 0, len(providers))
	for _, p := range providers {
		out = append(out, p.dialect)
	}
	return out
}

// DefaultProfile is the canonical account: 4,000 requests and, where tokens are counted, 400,000 of input a
// minute.
func DefaultProfile(d Dialect) Profile {
	p := providerOf(d)
	if p == nil {
		p = genericProvider
	}
	return Profile{
		Limits:  append([]Limit{{Budget: Requests, Amount: 4_000, Window: time.Minute}}, p.limits...),
		Charges: p.charges, Guidance: p.guidance, RemainingRoundedTo: orDefault(p.roundedTo, 1),
	}
}

// perMinute is a limit of the canonical account.
func perMinute(b Budget, amount float64) Limit {
	return Limit{Budget: b, Amount: amount, Window: time.Minute}
}

var (
	openAIProvider = &provider{
		dialect: OpenAI, find: prefixed("/v1"), api: openAIAPI{}, keys: keyPlaces{headers: anyKey},
		limits: []Limit{perMinute(Tokens, 400_000)}, charges: MaxAtAdmission, guidance: GuidanceBoth,
	}
	anthropicProvider = &provider{
		dialect: Anthropic, api: anthropicAPI{}, keys: keyPlaces{headers: anyKey},
		find: routes(
			post("/v1/messages", &messagesOperation),
			post("/v1/messages/count_tokens", &countTokensOperation),
			get("/v1/models(?:/(?P<model>.+))?", &anthropicModels),
		),
		limits:  []Limit{perMinute(InputTokens, 400_000), perMinute(OutputTokens, 80_000)},
		charges: AsProduced, guidance: GuidanceSeconds, roundedTo: 1_000, cacheOutside: true,
	}
	genericProvider = &provider{
		dialect: Generic, api: genericAPI{}, keys: keyPlaces{headers: anyKey, optional: true},
		find: func(_, path string) target {
			if path == "/echo" || path == "/generic" || strings.HasPrefix(path, "/generic/") {
				return target{op: &echoOperation}
			}
			return target{}
		},
		charges: MaxAtAdmission, guidance: GuidanceSeconds,
	}
)
