// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// The outcomes of calls.
const (
	whole    = "whole"          // the provider's answer, every byte of it
	broken   = "broken visibly" // began, and ended in an error that the SDK raised
	declined = "declined"       // by the gateway
	passedOn = "failure passed on"
	cut      = "connection cut" // the gateway was killed
	left     = "client left"
	corrupt  = "CORRUPT"
)

var outcomes = []string{whole, broken, declined, passedOn, cut, left, corrupt}

// ownWords begin each refusal of the gateway's own; whatever lacks them is the provider's.
const ownWords = "headgate: "

// judge says what came of a call, and why that is wrong if it is.
func judge(c *call, a *answer, gone bool) (outcome, wrong string) {
	if a.began && a.sum != wanted(a.words) {
		return corrupt, fmt.Sprintf("%d words that are not the provider's", a.words)
	}
	switch {
	case gone:
		return left, ""
	case a.err == nil:
		return judgeWhole(c, a)
	case a.began:
		return broken, ""
	case a.status != 0 && strings.Contains(a.said, ownWords):
		return declined, ""
	case a.status != 0:
		return passedOn, ""
	case lost(a.err):
		return cut, ""
	}
	return broken, "" // before its first content
}

func judgeWhole(c *call, a *answer) (outcome, wrong string) {
	switch {
	case !a.done:
		return corrupt, "it ended without an error and without saying that it is whole"
	case a.words != c.output:
		return corrupt, fmt.Sprintf("%d words of %d", a.words, c.output)
	case a.usage != c.output:
		return corrupt, fmt.Sprintf("a usage of %d instead of %d", a.usage, c.output)
	}
	return whole, ""
}

// lost says that there was no answer at all.
func lost(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// book counts calls by gateway and outcome, and keeps what went wrong.
type book struct {
	mu       sync.Mutex
	outcomes map[string]map[string]int
	reasons  map[string]int
	took     map[string][]time.Duration
	wrong    []string
	wrongs   int
	skipped  int
}

func newBook() *book {
	return &book{
		outcomes: map[string]map[string]int{}, reasons: map[string]int{},
		took: map[string][]time.Duration{},
	}
}

const (
	// maxWrong bounds the violations that are shown; all are counted.
	maxWrong = 40
	// maxTook bounds the times that are kept of each outcome.
	maxTook = 200_000
)

// violate notes what must not be.
func (b *book) violate(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrongs++
	if len(b.wrong) < maxWrong {
		b.wrong = append(b.wrong, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

func (b *book) count(gateway, outcome string, a *answer, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.outcomes[gateway] == nil {
		b.outcomes[gateway] = map[string]int{}
	}
	b.outcomes[gateway][outcome]++
	if outcome == declined || outcome == passedOn {
		b.reasons[fmt.Sprintf("%s %d %s", outcome, a.status, a.header.Get(headerReason))]++
	}
	if len(b.took[outcome]) < maxTook {
		b.took[outcome] = append(b.took[outcome], took)
	}
}

func (b *book) skip() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.skipped++
}

// total is how many calls had an outcome, at all gateways together.
func (b *book) total(outcome string) (n int) {
	for _, counts := range b.outcomes {
		n += counts[outcome]
	}
	return n
}

// percentile sorts what it is given.
func percentile(d []time.Duration, p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(p*float64(len(d))))]
}
