// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"time"
)

// Version is the newest version of this contract. A gateway reads its own and the two before it. A plan states the
// oldest version that knows all of its fields, so that gateways that were not restarted go on reading it.
const Version = 3

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
	Observe bool `json:"observe,omitempty"`
	// Account names the ProviderAccount whose limits are among Limits; empty without one.
	Account string `json:"account,omitempty"`
	// Outage is what a gateway does that hears from no coordinator: empty is Safe, else LastGrant or Open.
	Outage   string   `json:"outage,omitempty"`
	Limits   []Limit  `json:"limits,omitempty"`
	Deadline Deadline `json:"deadline"`
	// Deferred bounds the calls that are taken in to be made later; nil unless something defers.
	Deferred *Deferred `json:"deferred,omitempty"`
	Throttle Throttle  `json:"throttle"`
	Unguided Backoff   `json:"unguided"`
	Overload Overload  `json:"overload"`
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
	// Account names the ProviderAccount that the limit is of: it is shared with other namespaces, and its name is
	// ACCOUNT:LIMIT. Empty is a limit of the policy's own.
	Account string `json:"account,omitempty"`
	// MaxGateways bounds the safe share of an account's limit, over all namespaces; 0 takes the policy's.
	MaxGateways int32 `json:"maxGateways,omitempty"`
	// Watch marks a limit that binds nothing, and is there for the gateways to report what the provider states of its
	// budget: an account's limits are learned by it. A reader that does not know it is bound by nothing either.
	Watch bool `json:"watch,omitempty"`
}

// AccountSeparator stands between an account's name and its limit's, and in no other limit's name.
const AccountSeparator = ":"

// AccountName is the account that the route draws on, also while its limits are only watched.
func (r *Route) AccountName() string {
	for i := range r.Limits {
		if l := &r.Limits[i]; l.Account != "" || l.Watch {
			return AccountOf(l.Name)
		}
	}
	return r.Account
}

// AccountOf is the account that a limit's name begins with, empty where the limit is the policy's own.
func AccountOf(limitName string) string {
	account, _, found := strings.Cut(limitName, AccountSeparator)
	if !found {
		return ""
	}
	return account
}

// What a gateway does that hears from no coordinator; empty is Safe: half of an equal part of each limit.
const (
	// LastGrant goes on at the rate that was granted last.
	LastGrant = "LastGrant"
	// Open leaves the limits to the provider's own, as far as its answers tell them.
	Open = "Open"
)

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
	// OnExceeded is what happens to a call that cannot be made in time; empty is Decline.
	OnExceeded string `json:"onExceeded,omitempty"`
}

// What happens to a call whose wait is not acceptable; empty is to decline it.
const (
	Defer    = "Defer"
	Failover = "Failover"
)

// Deferred bounds the calls of a route that wait without their callers.
type Deferred struct {
	// MaxAgeSeconds is how long a call is tried, and how long its answer is kept.
	MaxAgeSeconds int64 `json:"maxAgeSeconds"`
	MaxAttempts   int32 `json:"maxAttempts"`
	// MaxCalls and MaxBytes bound what one gateway keeps for the route.
	MaxCalls int32 `json:"maxCalls"`
	MaxBytes int64 `json:"maxBytes"`
	// CallbackHosts are the hosts to which answers may be delivered; none allows no delivery.
	CallbackHosts []string `json:"callbackHosts,omitempty"`
}

// Throttle is about guided refusals.
type Throttle struct {
	HonourCeilingMillis int64 `json:"honourCeilingMillis"`
	JitterPercent       int32 `json:"jitterPercent"`
	MaxAttempts         int32 `json:"maxAttempts"`
	// OnCeilingExceeded is what happens above the honour ceiling: empty (Decline), Defer or Failover.
	OnCeilingExceeded string `json:"onCeilingExceeded,omitempty"`
	// FailoverTo is the route that serves the call then: one of the same policy and dialect.
	FailoverTo string `json:"failoverTo,omitempty"`
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
	// A call matches that satisfies all of MinInputTokens, Header, Models and Paths; what is unset matches every
	// call.
	MinInputTokens int64   `json:"minInputTokens,omitempty"`
	Header         *Header `json:"header,omitempty"`
	// Models and Paths are globs, of which one must match; a path is what follows the route.
	Models []string `json:"models,omitempty"`
	Paths  []string `json:"paths,omitempty"`
	// LargestCallTokens is the declared largest input; 0 means the largest seen.
	LargestCallTokens int64 `json:"largestCallTokens,omitempty"`
	// SharePermille is the lane's sure share of every limit; the lanes' add up to at most 1000.
	SharePermille int32 `json:"sharePermille"`
	// Priority orders lanes that borrow, and those that give way when queues are full: higher goes first.
	Priority int32 `json:"priority,omitempty"`
	// Weight divides what lanes of one priority borrow; 0 means 1.
	Weight int32 `json:"weight,omitempty"`
	// HoldMillis is how many milliseconds of its own rate an idle lane keeps for its next call; nil is the
	// engine's own choice.
	HoldMillis    *int64 `json:"holdMillis,omitempty"`
	MaxDepth      int32  `json:"maxDepth"`
	MaxBytes      int64  `json:"maxBytes,omitempty"`
	MaxWaitMillis int64  `json:"maxWaitMillis"`
	// KeepAlive: who asks for a stream hears something every PingEvery while the call waits, at the price of its status. A
	// reader that does not know it leaves all calls in silence, and each then ends with its status.
	KeepAlive bool `json:"keepAlive,omitempty"`
	// CredentialKey names a key of the lane's own; empty uses the route's.
	CredentialKey string `json:"credentialKey,omitempty"`
}

// PingEvery is how long a call of a lane with KeepAlive waits in silence, before the first ping and between them: many load
// balancers and clients give up what is silent for longer than 15 s.
const PingEvery = 10 * time.Second

// Header is a request header to match.
type Header struct {
	Name string `json:"name"`
	// Value is compared exactly; empty matches any value that is there.
	Value string `json:"value,omitempty"`
}
