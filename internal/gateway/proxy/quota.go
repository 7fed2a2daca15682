// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

const (
	// probeEvery is how often one call tries whether an exhausted quota is back.
	probeEvery = time.Minute
	// probeAtLast is when one call tries although the documented reset is later: credit may be bought before.
	probeAtLast = time.Hour
	// maxMarks bounds the accounts and models that are marked at once.
	maxMarks = 128
	// maxMarkedBody is what is kept of the provider's answer, to give it again.
	maxMarkedBody = 16 << 10
)

// mark is an exhausted quota: the provider's answer, and when to try again.
type mark struct {
	said
	status    int
	header    http.Header
	body      []byte
	at        time.Time
	until     time.Time // documented reset; zero if none is known
	nextProbe time.Time
}

// quotas are the marks of one route.
type quotas struct {
	// marked counts the marks, so that a route without any costs no lock.
	marked atomic.Int32

	mu    sync.Mutex
	marks map[admission.Account]*mark
	// since is when some of them were forgotten last.
	since time.Time
}

// forget removes the marks of those whose keys are others from now on. A call of another account that is under way marks
// nothing either: one time does for all, and the next call finds out.
func (q *quotas) forget(renewed map[uint64]bool, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.marks, func(a admission.Account, _ *mark) bool { return renewed[a.Fingerprint] })
	q.marked.Store(int32(len(q.marks)))
	q.since = now
}

// set marks an account. A documented reset holds calls until then, but for one each hour; else one probes
// each minute.
func (q *quotas) set(a admission.Account, m *mark, reset time.Duration, keyed, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if keyed.Before(q.since) {
		return // its key may be one from before
	}
	if q.marks == nil {
		q.marks = map[admission.Account]*mark{}
	}
	if _, ok := q.marks[a]; !ok && len(q.marks) >= maxMarks {
		q.dropOldestLocked()
	}
	m.at, m.nextProbe = now, now.Add(probeEvery)
	if reset > 0 {
		m.until = now.Add(reset)
		m.nextProbe = now.Add(min(reset, probeAtLast))
	}
	q.marks[a] = m
	q.marked.Store(int32(len(q.marks)))
}

func (q *quotas) dropOldestLocked() {
	var oldest admission.Account
	var at time.Time
	for a, m := range q.marks {
		if at.IsZero() || m.nextProbe.Before(at) {
			oldest, at = a, m.nextProbe
		}
	}
	delete(q.marks, oldest)
}

// check returns the mark that answers a call, and how long it holds; nil lets the call pass. The call
// that passes a mark is its probe: others are answered while it is under way.
func (q *quotas) check(a admission.Account, now time.Time) (*mark, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m, ok := q.marks[a]
	if !ok {
		return nil, 0
	}
	if !now.Before(m.nextProbe) {
		m.nextProbe = now.Add(probeEvery)
		return nil, 0
	}
	if m.until.After(m.nextProbe) {
		return m, m.until.Sub(now)
	}
	return m, m.nextProbe.Sub(now)
}

// clear removes the mark of an account that was answered, to a call that was sent after it was marked.
func (q *quotas) clear(a admission.Account, sent time.Time) {
	if q.marked.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if m, ok := q.marks[a]; ok && sent.After(m.at) {
		delete(q.marks, a)
	}
	q.marked.Store(int32(len(q.marks)))
}

// any reports whether there are marks, and the words and the documented reset of the one that holds longest. Behind its
// documented reset a mark says nothing any more, also where no call has tried.
func (q *quotas) any(now time.Time) (exhausted bool, words said, until time.Time) {
	if q.marked.Load() == 0 {
		return false, said{}, time.Time{}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var longest *mark
	for _, m := range q.marks {
		if over := !m.until.IsZero() && !now.Before(m.until); !over && (longest == nil || m.holdsLonger(longest)) {
			longest = m
		}
	}
	if longest == nil {
		return false, said{}, time.Time{}
	}
	return true, longest.said, longest.until
}

// holdsLonger orders marks, and by their words where they hold alike, so that a status does not flicker.
func (m *mark) holdsLonger(than *mark) bool {
	return cmp.Or(m.until.Compare(than.until), strings.Compare(m.message, than.message), strings.Compare(m.code, than.code)) > 0
}
