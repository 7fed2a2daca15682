// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"strings"
	"time"
)

// Dialect is the API a call speaks.
type Dialect string

// The dialects.
const (
	OpenAI       Dialect = "OpenAI"
	AzureOpenAI  Dialect = "AzureOpenAI"
	Anthropic    Dialect = "Anthropic"
	Gemini       Dialect = "Gemini"
	VertexAI     Dialect = "VertexAI"
	Bedrock      Dialect = "Bedrock"
	Mistral      Dialect = "Mistral"
	Cohere       Dialect = "Cohere"
	Groq         Dialect = "Groq"
	Cerebras     Dialect = "Cerebras"
	Together     Dialect = "Together"
	Fireworks    Dialect = "Fireworks"
	DeepSeek     Dialect = "DeepSeek"
	XAI          Dialect = "XAI"
	Perplexity   Dialect = "Perplexity"
	OpenRouter   Dialect = "OpenRouter"
	GitHubModels Dialect = "GitHubModels"
	HuggingFace  Dialect = "HuggingFace"
	// SelfHosted is vLLM, which copies OpenAI, and the own APIs of Ollama and Text Generation Inference.
	SelfHosted Dialect = "SelfHosted"
	// Generic is no provider's in particular.
	Generic Dialect = "Generic"
)

// Budget is what a limit counts.
type Budget string

// The budgets.
const (
	Requests     Budget = "Requests"
	Tokens       Budget = "Tokens"
	InputTokens  Budget = "InputTokens"
	OutputTokens Budget = "OutputTokens"
)

// Charges says when output tokens are taken.
type Charges string

// The ways of charging.
const (
	// MaxAtAdmission takes the largest output a call allows when it is admitted, and keeps it.
	MaxAtAdmission Charges = "MaxAtAdmission"
	// EstimateThenActual takes that first and gives back what was not produced.
	EstimateThenActual Charges = "EstimateThenActual"
	// AsProduced takes output as it is produced.
	AsProduced Charges = "AsProduced"
)

// Guidance says which headers a 429 carries.
type Guidance string

// The kinds of guidance.
const (
	GuidanceSeconds Guidance = "seconds" // retry-after, whole seconds rounded up
	GuidanceMillis  Guidance = "millis"  // retry-after-ms
	GuidanceBoth    Guidance = "both"
	GuidanceOwn     Guidance = "own"  // neither: only what the provider's limit headers and error body say
	GuidanceNone    Guidance = "none" // nothing at all
)

// Limit is one budget of an account.
type Limit struct {
	Budget Budget
	// Amount per Window; Burst is the largest level, Amount if 0.
	Amount float64
	Window time.Duration
	Burst  float64
	// StartPercent of Burst is the first level; full if nil.
	StartPercent *float64
}

// Profile is how one dialect behaves.
type Profile struct {
	// Limits hold for each API key and model group. None: no limit, no headers.
	Limits  []Limit
	Charges Charges
	// ChargeRejected makes a refused call cost a request and its tokens too.
	ChargeRejected bool
	Guidance       Guidance
	// RemainingRoundedTo is the step that reported token levels are rounded to.
	RemainingRoundedTo float64
}

// Options describe a simulated provider. The zero value is completed by New.
type Options struct {
	// Profiles by dialect; a dialect that is missing gets DefaultProfile.
	Profiles map[Dialect]Profile
	// ModelGroups puts models that match a pattern (a trailing * is a wildcard) into one group, so that
	// they share buckets. A model that matches none is its own group.
	ModelGroups []ModelGroup
	// Dialect is whose API a path without a prefix is; empty to go by the path, see doc.go.
	Dialect Dialect
	// AWSSecrets are secret keys by access key id: requests signed with AWS Signature Version 4 are then
	// verified. If there are none, any signature passes.
	AWSSecrets map[string]string
	// Keys are the API keys accepted; all that do not begin with "sk-invalid" if empty.
	Keys []string
	// FirstByte is the time to the first byte; PerToken is added for each output token.
	FirstByte time.Duration
	PerToken  time.Duration
	// OutputTokens is how much a call gets that asks for no particular amount.
	OutputTokens int64
	// Skew is added to the provider's own clock: Date and absolute resets.
	Skew time.Duration
	// OmitDate leaves the Date header out.
	OmitDate bool
	// Gzip compresses JSON answers for callers that accept it.
	Gzip bool
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Bounds; each has a default.
	MaxArrivals  int
	MaxAccounts  int
	MaxFaults    int
	MaxInFlight  int
	MaxBodyBytes int64
}

// ModelGroup names the models that share buckets.
type ModelGroup struct {
	Pattern string
	Name    string
}

// complete fills in what is absent.
func (o Options) complete() Options {
	profiles := map[Dialect]Profile{}
	for _, d := range Dialects() {
		p, ok := o.Profiles[d]
		if !ok {
			p = DefaultProfile(d)
		}
		profiles[d] = p.complete(DefaultProfile(d))
	}
	o.Profiles = profiles
	if o.Now == nil {
		o.Now = time.Now
	}
	o.OutputTokens = orDefault(o.OutputTokens, 16)
	o.MaxArrivals = orDefault(o.MaxArrivals, 50_000)
	o.MaxAccounts = orDefault(o.MaxAccounts, 1_000)
	o.MaxFaults = orDefault(o.MaxFaults, 1_000)
	o.MaxInFlight = orDefault(o.MaxInFlight, 10_000)
	o.MaxBodyBytes = orDefault(o.MaxBodyBytes, 64<<20)
	return o
}

func (p Profile) complete(def Profile) Profile {
	if p.Charges == "" {
		p.Charges = def.Charges
	}
	if p.Guidance == "" {
		p.Guidance = def.Guidance
	}
	p.RemainingRoundedTo = orDefault(p.RemainingRoundedTo, def.RemainingRoundedTo)
	p.Limits = append([]Limit(nil), p.Limits...)
	for i := range p.Limits {
		p.Limits[i].Window = orDefault(p.Limits[i].Window, time.Minute)
		p.Limits[i].Burst = orDefault(p.Limits[i].Burst, p.Limits[i].Amount)
	}
	return p
}

func orDefault[T int | int64 | float64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// Validate refuses what cannot be simulated.
func (o Options) Validate() error {
	if o.Dialect != "" && providerOf(o.Dialect) == nil {
		return fmt.Errorf("fakeprovider: unknown dialect %q", o.Dialect)
	}
	for d, p := range o.Profiles {
		if providerOf(d) == nil {
			return fmt.Errorf("fakeprovider: unknown dialect %q", d)
		}
		for _, l := range p.Limits {
			switch l.Budget {
			case Requests, Tokens, InputTokens, OutputTokens:
			default:
				return fmt.Errorf("fakeprovider: %s: unknown budget %q", d, l.Budget)
			}
			if l.Amount < 0 || l.Burst < 0 || l.Window < 0 {
				return fmt.Errorf("fakeprovider: %s: %s: negative amount, burst or window", d, l.Budget)
			}
		}
	}
	return nil
}

// group returns the group of model.
func (o Options) group(model string) string {
	for _, g := range o.ModelGroups {
		prefix, wild := strings.CutSuffix(g.Pattern, "*")
		if model == g.Pattern || wild && strings.HasPrefix(model, prefix) {
			return g.Name
		}
	}
	return clip(model, maxModelName)
}

// maxModelName bounds what is kept of a model's name.
const maxModelName = 64

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
