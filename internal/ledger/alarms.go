// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"container/heap"
	"time"
)

// alarms are the pools by when they are to be looked at next.
type alarms []*shared

// alarm is a pool's place among them; 0 is none.
type alarm struct {
	at    time.Time
	place int
}

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }

func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].place, a[j].place = i+1, j+1
}

// Push implements heap.Interface.
func (a *alarms) Push(x any) {
	s := x.(*shared)
	s.place = len(*a) + 1
	*a = append(*a, s)
}

// Pop implements heap.Interface.
func (a *alarms) Pop() any {
	old := *a
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	s.place = 0
	return s
}

func (a *alarms) set(s *shared, at time.Time) {
	s.at = at
	if s.place == 0 {
		heap.Push(a, s)
	} else {
		heap.Fix(a, s.place-1)
	}
}

func (a *alarms) drop(s *shared) {
	if s.place > 0 {
		heap.Remove(a, s.place-1)
	}
}

// due takes out a pool whose time has come, nil if there is none.
func (a *alarms) due(now time.Time) *shared {
	if len(*a) == 0 || (*a)[0].at.After(now) {
		return nil
	}
	return heap.Pop(a).(*shared)
}

func (a *alarms) next() (time.Time, bool) {
	if len(*a) == 0 {
		return time.Time{}, false
	}
	return (*a)[0].at, true
}
