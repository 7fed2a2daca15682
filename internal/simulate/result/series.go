// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// MaxPoints bounds a curve.
const MaxPoints = 600

// Of is what a curve shows.
type Of string

// What curves show.
const (
	// OfLevel is a true level of the provider's; Of's key is the budget's name. Ceiling is the burst.
	OfLevel Of = "level"
	// OfQueue is how many calls wait in a lane; the key is the lane.
	OfQueue Of = "queue"
	// OfSends, OfThrottled and OfOverloaded are per second: sends, 429s and 529s.
	OfSends      Of = "sends"
	OfThrottled  Of = "429"
	OfOverloaded Of = "529"
	// OfDeclined is refusals by Headgate, per second; the key is the stream.
	OfDeclined Of = "declined"
)

// Series is one curve. Points are in order of time.
type Series struct {
	Of    Of     `json:"of"`
	Route string `json:"route"`
	// Key is the budget, the lane or the stream, by Of; empty where there is only one.
	Key string `json:"key,omitempty"`
	// Ceiling is the value that a level cannot exceed, 0 where there is none.
	Ceiling float64 `json:"ceiling,omitempty"`
	Points  []Point `json:"points"`
}

// Point is a value at a time. Rates and queues are of the interval that ends there: a rate is the mean, a queue the
// most, a level the value at that time.
type Point struct {
	Seconds float64 `json:"t"`
	Value   float64 `json:"v"`
}
