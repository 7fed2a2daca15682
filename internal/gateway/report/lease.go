// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

const wireInterval = wire.ReportInterval

// lease keeps the newest share, and lets it lapse.
type lease struct {
	shares      Shares
	incarnation uint64

	mu       sync.Mutex
	epoch    uint64
	sequence uint64
	held     []*wire.LimitShare
	valid    bool
	timer    *time.Timer
	// until is a time of day: unlike the timer it counts the time a suspended host slept.
	until time.Time
}

// take puts a share in force, or extends the one that is. It returns whether its content was new.
func (l *lease) take(share *wire.Share, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if share.GetIncarnation() != l.incarnation || l.valid && share.GetEpoch() < l.epoch {
		return false
	}
	ttl := time.Duration(min(share.GetTtlMillis(), maxTTL.Milliseconds())) * time.Millisecond
	if ttl <= 0 {
		return false
	}
	fresh := !l.valid || share.GetEpoch() != l.epoch || share.GetSequence() != l.sequence
	l.epoch, l.sequence, l.held, l.valid = share.GetEpoch(), share.GetSequence(), share.GetLimits(), true
	l.until = now.Round(0).Add(ttl)
	if l.timer == nil {
		l.timer = time.AfterFunc(ttl, l.expire)
	} else {
		l.timer.Reset(ttl)
	}
	if fresh {
		l.shares.Apply(l.held)
	}
	return fresh
}

func (l *lease) expire() { l.check(time.Now()) }

// check lets the share lapse when it is due. After that a share of any epoch counts: whatever the one before
// was about, nobody acts on it any more.
func (l *lease) check(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.valid || now.Round(0).Before(l.until) {
		return
	}
	l.valid, l.held, l.sequence = false, nil, 0
	l.shares.Safe()
}

// stop ends the timer.
func (l *lease) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

// state is what reports and hellos say of it.
func (l *lease) state() (epoch, sequence uint64, held []*wire.LimitShare) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.valid {
		return l.epoch, 0, nil
	}
	return l.epoch, l.sequence, l.held
}
