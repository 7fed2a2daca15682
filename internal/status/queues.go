// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

const (
	// foreseeable is as far as a queue's growth says when it will be full: loads change.
	foreseeable = time.Hour
	// soon is worth a sentence.
	soon = 10 * time.Minute
)

// queueFullIn is when the lane's queue will be full somewhere, if it grows.
func (v laneView) queueFullIn() v1alpha1.Wait {
	if !v.seen.Growing || v.seen.FullIn > foreseeable {
		return ""
	}
	return wait(v.seen.FullIn)
}

// fillingWords name the lane whose queue is full first, if one is soon.
func (v providerView) fillingWords() string {
	var first *laneView
	for i := range v.lanes {
		l := &v.lanes[i]
		if l.seen.Growing && l.seen.FullIn <= soon && (first == nil || l.seen.FullIn < first.seen.FullIn) {
			first = l
		}
	}
	switch {
	case first == nil:
		return ""
	case first.seen.FullIn < time.Second:
		return fmt.Sprintf("The queue of lane %s is full.", first.name)
	}
	return fmt.Sprintf("The queue of lane %s grows and is full in %s.", first.name, wait(first.seen.FullIn))
}

// priority is the lane's where the route's lanes have several, else nil: it says nothing then.
func (v laneView) priority() *int32 {
	for i := range v.route.Lanes {
		if v.route.Lanes[i].Priority != v.route.Lanes[0].Priority {
			return &v.declared.Priority
		}
	}
	return nil
}

// inEffect is the route with what is in effect of its limits, which guarantees hold on.
func (v providerView) inEffect() *plan.Route {
	r := v.route
	r.Limits = nil
	for i := range v.limits {
		l := v.limits[i].declared
		if v.limits[i].reduced() {
			l.Amount = max(int64(v.limits[i].inEffect()), 1)
		}
		if l.Account != "" {
			l.Amount = int64(float64(l.Amount) * v.limits[i].guaranteed / 100) // guarantees hold on the namespace's own part
		}
		r.Limits = append(r.Limits, l)
	}
	return &r
}
