// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"maps"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// The sources of a wait.
const (
	WaitNone     = "none"     // the call went at once
	WaitBudget   = "budget"   // it waited for a budget of ours or the provider's
	WaitProvider = "provider" // it waited as the provider's refusal said
	WaitBackoff  = "backoff"  // it backed off without guidance
)

// Waits is a histogram of waits from one source.
type Waits struct {
	// Counts has one more element than wire.WaitBoundsMillis.
	Counts [len(wire.WaitBoundsMillis) + 1]uint64
	Total  time.Duration
}

// Lane counts one lane's calls.
type Lane struct {
	Name string

	mu       sync.Mutex
	counts   LaneCounts
	worst    time.Duration
	bySource map[string]*Waits
}

// LaneCounts are a lane's figures.
type LaneCounts struct {
	Offered, Sent, Cancelled, WouldHaveRefused, WouldHaveWaited uint64
	// Ended counts calls by how they ended.
	Ended map[Ended]uint64
	// Refused counts, by reason, what was refused or not sent again.
	Refused     map[string]uint64
	Waits       Waits
	LargestCall float64
}

// Ended is a call's outcome, and its reason where it was ours.
type Ended struct{ Outcome, Reason string }

func newLane(name string) *Lane {
	return &Lane{
		Name:     name,
		counts:   LaneCounts{Ended: map[Ended]uint64{}, Refused: map[string]uint64{}},
		bySource: map[string]*Waits{},
	}
}

// Offered counts a call that came, of so many tokens.
func (l *Lane) Offered(tokens float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Offered++
	l.counts.LargestCall = max(l.counts.LargestCall, tokens)
}

// Sent counts a call's first send after its wait.
func (l *Lane) Sent(wait time.Duration, source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Sent++
	l.counts.Waits.add(wait)
	l.worst = max(l.worst, wait)
	l.sourceLocked(source).add(wait)
}

// Waited counts a later wait of a call that had been sent.
func (l *Lane) Waited(wait time.Duration, source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sourceLocked(source).add(wait)
}

func (l *Lane) sourceLocked(source string) *Waits {
	w, ok := l.bySource[source]
	if !ok {
		w = &Waits{}
		l.bySource[source] = w
	}
	return w
}

// End counts a call's outcome.
func (l *Lane) End(outcome, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := Ended{outcome, reason}
	if _, ok := l.counts.Ended[e]; !ok && len(l.counts.Ended) >= maxReasons {
		e = Ended{Other, Other}
	}
	l.counts.Ended[e]++
}

func (l *Lane) used() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.counts.Ended) > 0
}

// Refused counts a refusal of ours.
func (l *Lane) Refused(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	count(l.counts.Refused, reason)
}

// Left counts a call whose client left while it was queued.
func (l *Lane) Left() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Cancelled++
}

// WouldHave counts what Observe mode did not do.
func (l *Lane) WouldHave(waited, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waited {
		l.counts.WouldHaveWaited++
	}
	if refused {
		l.counts.WouldHaveRefused++
	}
}

// Counts copies the figures.
func (l *Lane) Counts() LaneCounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts
	c.Ended = maps.Clone(c.Ended)
	c.Refused = maps.Clone(c.Refused)
	return c
}

// WaitsBySource copies the histograms.
func (l *Lane) WaitsBySource() map[string]Waits {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[string]Waits, len(l.bySource))
	for source, w := range l.bySource {
		out[source] = *w
	}
	return out
}

// TakeWorst returns the worst wait since it was last taken.
func (l *Lane) TakeWorst() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.worst
	l.worst = 0
	return w
}

func (w *Waits) add(wait time.Duration) {
	millis := uint64(max(wait, 0).Milliseconds())
	i := 0
	for i < len(wire.WaitBoundsMillis) && millis > wire.WaitBoundsMillis[i] {
		i++
	}
	w.Counts[i]++
	w.Total += wait
}

func count(m map[string]uint64, label string) {
	if _, ok := m[label]; !ok && len(m) >= maxReasons {
		label = Other
	}
	m[label]++
}
