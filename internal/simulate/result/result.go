// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// Result is one run. A baseline's is of the same shape, without baselines and expectations of its own.
type Result struct {
	// Policy and Workload name what was simulated.
	Policy   string `json:"policy,omitempty"`
	Workload string `json:"workload,omitempty"`
	Seed     uint64 `json:"seed"`
	// Notes say of the policy what was not simulated.
	Notes []string `json:"notes,omitempty"`
	// DurationSeconds is the simulated time; what came in its first WarmupSeconds is not counted.
	DurationSeconds float64 `json:"durationSeconds"`
	WarmupSeconds   float64 `json:"warmupSeconds"`

	// Streams by their names, Provider by the routes', Tenants by the streams' tenant, "" left out.
	Streams  map[string]*Stream   `json:"streams"`
	Provider map[string]*Provider `json:"provider"`
	Gateways Gateways             `json:"gateways"`
	Tenants  map[string]*Tenant   `json:"tenants"`

	// Baselines are the same arrivals without Headgate, or without a part of it, by the baseline's name.
	Baselines map[string]*Result `json:"baselines,omitempty"`
	Expect    []Expectation      `json:"expect,omitempty"`
	// Series are curves over the whole run, warmup included.
	Series []Series `json:"series,omitempty"`
}

// Counts are what became of the calls that were offered after the warmup. Offered is the sum of the others.
type Counts struct {
	Offered   int `json:"offered"`
	Succeeded int `json:"succeeded"`
	// Declined were refused before or between sends, by reason: the engine's, or why a retry was not made.
	Declined map[string]int `json:"declined"`
	// Deferred were taken in to be made later (their caller has a ticket).
	Deferred int `json:"deferred"`
	// Failed were given the provider's failure, by its status, or hung up.
	Failed map[string]int `json:"failed"`
	// Unfinished were waiting or under way when the run ended.
	Unfinished int `json:"unfinished"`
}

// Stream is what happened to one stream's calls.
type Stream struct {
	Counts
	Tenant string `json:"tenant,omitempty"`
	Route  string `json:"route"`
	Lane   string `json:"lane,omitempty"`
	// DeferredDone of the deferred were made by the end of the run.
	DeferredDone int `json:"deferredDone"`
	// FailedOver went to another provider in the end.
	FailedOver int `json:"failedOver"`
	// Attempts are sends to a provider; Resubmitted are calls that a client's SDK offered once more.
	Attempts    int `json:"attempts"`
	Resubmitted int `json:"resubmitted"`
	// TooLate of the succeeded had their first content after their deadline.
	TooLate int `json:"tooLate"`
	// Wait is from arrival to the last send, of calls that succeeded: with those that failed, whoever never waits would
	// look quick. Decline is from arrival to a refusal.
	Wait    Quantiles `json:"waitSeconds"`
	Decline Quantiles `json:"declineSeconds"`
	// Lateness is how much later a call left than it would have from a bucket of its lane's own.
	Lateness Largest `json:"latenessAgainstPrivateBucketSeconds"`
	// EarliestSendMinusFloor is the least distance of a retry from the time the provider told the call to wait
	// for: negative is too early. It is 0 where nobody was told, see Told.
	EarliestSendMinusFloor float64 `json:"earliestSendMinusFloorSeconds"`
	// Told are sends that were answered with a time to wait for.
	Told int `json:"toldToWait"`
	// Waits is the distribution of Wait.
	Waits []Bin `json:"waits,omitempty"`
}

// Quantiles are of seconds; 0 where there is nothing.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Largest is the largest of some seconds, 0 where there is nothing.
type Largest struct {
	Max float64 `json:"max"`
}

// Bin counts the waits up to UpTo seconds and above the bin before.
type Bin struct {
	UpTo  float64 `json:"upTo"`
	Count int     `json:"count"`
}

// Provider is what one route's provider saw, after the warmup.
type Provider struct {
	Sends       int `json:"sends"`
	Rejected429 int `json:"rejected429"`
	Rejected529 int `json:"rejected529"`
	// Budgets by name: the budget's, with the window where a budget has several (InputTokens/Day).
	Budgets map[string]*Budget `json:"budgets"`
	// PeakPer100ms is the most sends within any 100 ms.
	PeakPer100ms int `json:"peakPer100ms"`
	// Lanes are what the policy promises on this route, beside what happened. Baselines have none.
	Lanes map[string]*Lane `json:"lanes,omitempty"`
}

// Budget is one of the provider's true buckets.
type Budget struct {
	Amount        float64 `json:"amount"`
	Burst         float64 `json:"burst"`
	WindowSeconds float64 `json:"windowSeconds"`
	// Used is what was spent; Utilisation is spent/(start + refill - end).
	Used        float64 `json:"used"`
	Utilisation float64 `json:"utilisation"`
	// MaxExcess is the largest, over all intervals, of arrivals - rate·length - burst. MaxDebt is how far the level
	// was below zero at most.
	MaxExcess float64 `json:"maxExcess"`
	MaxDebt   float64 `json:"maxDebt"`
	// Outsiders is what others spent, beside Used.
	Outsiders float64 `json:"outsiders"`
}

// Lane is one lane's promise and what happened.
type Lane struct {
	// Share is 0 to 1.
	Share float64 `json:"share"`
	// LargestSeconds is within how long the largest call that came goes once it is next (G1); 0 is no promise.
	LargestSeconds float64 `json:"largestSeconds"`
	// Admitted and Refused count decisions of admission; LongestWait is the longest of an admitted call.
	Admitted     int     `json:"admitted"`
	Refused      int     `json:"refused"`
	LongestWait  float64 `json:"longestWaitSeconds"`
	QueuedAtMost int     `json:"queuedAtMost"`
	LatenessMax  float64 `json:"latenessAgainstPrivateBucketSeconds"`
}

// Gateways is the fleet.
type Gateways struct {
	Count int `json:"count"`
	// GrantsBurned counts gateways that died or fell silent holding what then counted as spent; Burned is how much
	// that was, by ROUTE/LIMIT.
	GrantsBurned int                `json:"grantsBurned"`
	Burned       map[string]float64 `json:"burned,omitempty"`
	Crashes      int                `json:"crashes"`
}

// Tenant is what one tenant had of all streams that name it.
type Tenant struct {
	Counts
	Attempts int `json:"attempts"`
	// Used by budget, over all routes.
	Used map[string]float64 `json:"used"`
}

// Expectation is one line of the workload's expect.
type Expectation struct {
	// What is the path and the condition: "streams.ingest.succeeded >= 15".
	What string  `json:"what"`
	Got  float64 `json:"got"`
	OK   bool    `json:"ok"`
}

// Passed says whether all expectations held.
func (r *Result) Passed() bool {
	for _, e := range r.Expect {
		if !e.OK {
			return false
		}
	}
	return true
}
