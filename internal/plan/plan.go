// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

// Version is the version of this contract. A gateway reads its own and the two before it.
const Version = 1

// Plan is everything the gateways of a namespace need.
type Plan struct {
	Version   int    `json:"version"`
	Revision  int64  `json:"revision"`
	Namespace string `json:"namespace"`
	// CoordinatorCA is the PEM bundle that verifies the coordinator, old and new CA together.
	CoordinatorCA string `json:"coordinatorCA,omitempty"`
	// ProviderCA is an extra PEM bundle for TLS to providers: an installation setting.
	ProviderCA string `json:"providerCA,omitempty"`
	// Policies in order of precedence.
	Policies []Policy `json:"policies,omitempty"`
}

// Policy is one compiled RateLimitPolicy.
type Policy struct {
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	Generation int64  `json:"generation"`
	// Selector terms must all hold; none selects every pod.
	Selector []Term `json:"selector,omitempty"`
	// MaxGateways bounds the safe share: a disconnected gateway takes half of rate / MaxGateways.
	MaxGateways int32   `json:"maxGateways"`
	Routes      []Route `json:"routes"`
}

// Operator relates a label to values.
type Operator string

// The operators.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
)

// Term is one requirement on a pod's labels.
type Term struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Route is one provider of a policy.
type Route struct {
	// Name is the path element apps call: /NAME/…
	Name    string `json:"name"`
	Dialect string `json:"dialect"`
	// BaseURL has a scheme, a host, an optional port and path; no query and no trailing slash.
	BaseURL string `json:"baseURL"`
	// CredentialKey names the key the gateway sends; empty passes the app's own header through.
	CredentialKey string `json:"credentialKey,omitempty"`
	// Observe decides and reports, and never delays or refuses.
	Observe  bool     `json:"observe,omitempty"`
	Limits   []Limit  `json:"limits,omitempty"`
	Deadline Deadline `json:"deadline"`
	Throttle Throttle `json:"throttle"`
	Unguided Backoff  `json:"unguided"`
	Overload Overload `json:"overload"`
	// Lanes in order of match; the last is always default and matches everything.
	Lanes []Lane `json:"lanes"`
}

// Limit is one bucket.
type Limit struct {
	Name string `json:"name"`
	// Budget is Requests, Tokens, InputTokens, OutputTokens or InFlight.
	Budget string `json:"budget"`
	// Amount refills within WindowSeconds; with InFlight it is the number of slots.
	Amount        int64 `json:"amount"`
	WindowSeconds int64 `json:"windowSeconds,omitempty"`
	// Burst is the bucket's capacity.
	Burst int64 `json:"burst"`
	// Models are globs; none means every model.
	Models []string `json:"models,omitempty"`
}

// The budgets.
const (
	Requests     = "Requests"
	Tokens       = "Tokens"
	InputTokens  = "InputTokens"
	OutputTokens = "OutputTokens"
	InFlight     = "InFlight"
)

// Deadline bounds the time to the first content byte.
type Deadline struct {
	DefaultMillis int64 `json:"defaultMillis"`
}

// Throttle is about guided refusals.
type Throttle struct {
	HonourCeilingMillis int64 `json:"honourCeilingMillis"`
	JitterPercent       int32 `json:"jitterPercent"`
	MaxAttempts         int32 `json:"maxAttempts"`
}

// Backoff is about unguided refusals.
type Backoff struct {
	BaseMillis int64 `json:"baseMillis"`
	CapMillis  int64 `json:"capMillis"`
	// Equal draws between half the backoff and all of it, instead of from 0.
	Equal bool `json:"equal,omitempty"`
}

// Overload is about 529 and 503.
type Overload struct {
	BaseMillis  int64 `json:"baseMillis"`
	CapMillis   int64 `json:"capMillis"`
	MaxAttempts int32 `json:"maxAttempts"`
}

// Lane is a reserved part of every limit of its route.
type Lane struct {
	Name string `json:"name"`
	// MinInputTokens is the match: 0 matches every call.
	MinInputTokens int64 `json:"minInputTokens,omitempty"`
	// LargestCallTokens is the declared largest input; 0 means the largest seen.
	LargestCallTokens int64 `json:"largestCallTokens,omitempty"`
	// SharePermille is the lane's sure share of every limit; the lanes' add up to at most 1000.
	SharePermille int32 `json:"sharePermille"`
	MaxDepth      int32 `json:"maxDepth"`
	MaxWaitMillis int64 `json:"maxWaitMillis"`
}
