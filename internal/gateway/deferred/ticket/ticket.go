// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ticket

import (
	"maps"
	"net/http"
	"time"
)

// State is how far a call is.
type State string

// The states.
const (
	Waiting State = "Waiting"
	Done    State = "Done"
	Dead    State = "DeadLetter"
)

// The reasons of dead letters. The set is closed: it is shown to callers, and labels metrics.
const (
	ReasonExpired        = "Expired"           // not made within its age
	ReasonAttempts       = "AttemptsExhausted" // the provider gave no answer that is final
	ReasonAnswerTooLarge = "AnswerTooLarge"    // the provider's answer is larger than what is kept
	ReasonAnswerExpired  = "AnswerExpired"     // the answer was kept for its age
	ReasonDamaged        = "Damaged"           // the stored request is not what was stored
)

// Delivery is how far the answer is on its way to the callback.
type Delivery string

// The states of a delivery.
const (
	Undelivered Delivery = "" // there is nothing to deliver, or not yet
	Due         Delivery = "Due"
	Delivered   Delivery = "Delivered"
	GivenUp     Delivery = "GivenUp"
)

// Ticket is one deferred call. Times are of the store's clock.
type Ticket struct {
	ID     string `json:"id"`
	Policy string `json:"policy"`
	Route  string `json:"route"`
	Lane   string `json:"lane"`
	// Path is the escaped path below the route.
	Path     string      `json:"path"`
	Query    string      `json:"query,omitempty"`
	Header   http.Header `json:"header,omitempty"`
	Callback string      `json:"callback,omitempty"`

	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
	// Last is why the latest attempt brought no answer.
	Last     string `json:"last,omitempty"`
	Attempts int    `json:"attempts"`

	Created   time.Time `json:"created"`
	NotBefore time.Time `json:"notBefore"`
	// Expires is when a call that waits is given up, and when an answer or a dead letter is forgotten.
	Expires time.Time `json:"expires"`
	// MaxAge is the policy's when the call was taken in.
	MaxAge time.Duration `json:"maxAge"`

	Request Part `json:"request"`
	// Status and AnswerHeader are the provider's.
	Status       int         `json:"status,omitempty"`
	AnswerHeader http.Header `json:"answerHeader,omitempty"`
	Answer       Part        `json:"answer"`

	Delivery   Delivery  `json:"delivery,omitempty"`
	Deliveries int       `json:"deliveries,omitempty"`
	DeliverAt  time.Time `json:"deliverAt"`
}

// Part describes a body that is kept beside the ticket.
type Part struct {
	Bytes int64  `json:"bytes"`
	Sum   uint32 `json:"sum"`
}

// Describe describes body.
func Describe(body []byte) Part { return Part{int64(len(body)), checksum(body)} }

// Holds says whether body is the one described.
func (p Part) Holds(body []byte) bool { return p == Describe(body) }

// Clone returns a copy that shares nothing that changes.
func (t *Ticket) Clone() *Ticket {
	c := *t
	c.Header, c.AnswerHeader = maps.Clone(t.Header), maps.Clone(t.AnswerHeader)
	return &c
}
