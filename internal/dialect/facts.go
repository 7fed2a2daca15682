// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"slices"
	"strings"
)

// Charges says when a provider takes output tokens from its budgets.
type Charges string

// The ways of charging.
const (
	// MaxAtAdmission takes the largest output a request allows when it is admitted.
	MaxAtAdmission Charges = "MaxAtAdmission"
	// EstimateThenActual takes an estimate and corrects it.
	EstimateThenActual Charges = "EstimateThenActual"
	// AsProduced takes output as it is produced.
	AsProduced Charges = "AsProduced"
)

// ResetMeans says what a reset header's time leads to.
type ResetMeans string

// The meanings of a reset.
const (
	// ResetFull is the time until the bucket is full.
	ResetFull ResetMeans = "Full"
	// ResetUsable is the time until a call like this one can go.
	ResetUsable ResetMeans = "Usable"
)

// Facts is what both halves know of a dialect.
type Facts struct {
	// Name is the API's name for it: OpenAI.
	Name string
	// Route is the name in lower case; the built-in route.
	Route string
	// Aliases are further names that people write, in lower case: azure, github-models.
	Aliases []string
	// DefaultBaseURL is where its provider answers; empty where that differs from account to account.
	DefaultBaseURL string
	// ExampleBaseURL shows what a base URL looks like where there is no default; capitals are to be replaced.
	ExampleBaseURL string
	// HostParts are parts of its providers' host names, by which one is recognized whose dialect is not stated.
	HostParts []string
	// BaseURLVariables are the variables its SDKs read, with the path each expects after the route.
	BaseURLVariables []Variable
	// Charges, ResetMeans: see the types.
	Charges    Charges
	ResetMeans ResetMeans
	// CachedInputFree says that cached reads do not count to input limits.
	CachedInputFree bool
	// ChargesRejected says that a refused call costs a request.
	ChargesRejected bool
	// TokensApart: the provider limits input and output tokens each for itself, never their sum.
	TokensApart bool
	// AllowanceDay is the day after which daily allowances begin anew, where its documents say so.
	AllowanceDay Day
	// SmallestInputTokens is the least input any call has.
	SmallestInputTokens int64
}

// Variable is an environment variable an SDK reads its base URL from.
type Variable struct {
	Name string
	// Path follows the route: OPENAI_BASE_URL ends in /v1, ANTHROPIC_BASE_URL does not.
	Path string
	// Unless names variables beside which this one is not set: with them an SDK takes it for something else.
	Unless []string
	// ReadOnly variables are never set, since that would break an app that works without: their SDKs sign the
	// host, or the app must set them anyway. Where an app sets one, it tells where its calls go.
	ReadOnly bool
}

// All returns the facts of every dialect, in a fixed order.
func All() []Facts { return append([]Facts(nil), all...) }

// Generic is the name of the dialect of providers that are not known any closer.
const Generic = "Generic"

// BuiltIn says whether a gateway has the route of the dialect's name: at the default base URL, or at the one of
// the policy's only provider of the dialect. Providers of Generic share nothing that a route could stand for.
func (f Facts) BuiltIn() bool { return f.Name != Generic }

// ByName returns the facts of the dialect the API calls name.
func ByName(name string) (Facts, bool) {
	for _, f := range all {
		if f.Name == name {
			return f, true
		}
	}
	return Facts{}, false
}

// ByRoute returns the facts of the dialect whose built-in route is route.
func ByRoute(route string) (Facts, bool) {
	for _, f := range all {
		if f.Route == strings.ToLower(route) {
			return f, true
		}
	}
	return Facts{}, false
}

// ByHost returns the facts of the dialect that providers at host speak, where the host tells.
func ByHost(host string) (Facts, bool) {
	host = strings.ToLower(host)
	for _, f := range all {
		own := strings.TrimPrefix(f.DefaultBaseURL, "https://")
		if own != "" && host == own || slices.ContainsFunc(f.HostParts, func(p string) bool { return strings.Contains(host, p) }) {
			return f, true
		}
	}
	return Facts{}, false
}

// Find returns the facts of the dialect that a person means by name: its name, its route or an alias, in any
// case.
func Find(name string) (Facts, bool) {
	name = strings.ToLower(name)
	for _, f := range all {
		if f.Route == name || slices.Contains(f.Aliases, name) {
			return f, true
		}
	}
	return Facts{}, false
}
