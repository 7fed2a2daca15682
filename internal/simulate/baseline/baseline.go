// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// For returns the maker of the baseline of a name, with the policy whose limits it counts, if it counts any.
func For(name string, policy *plan.Policy) (world.Maker, error) {
	switch name {
	case workload.BaselineNone:
		return func(w *world.World) world.Client { return &None{w: w} }, nil
	case workload.BaselineExponential:
		return func(w *world.World) world.Client { return &Exponential{w: w} }, nil
	case workload.BaselineNoLanes:
		return func(w *world.World) world.Client { return newQueue(w, policy) }, nil
	}
	return nil, fmt.Errorf("there is no baseline %q", name)
}

// None sends every call at once and once.
type None struct{ w *world.World }

// Offer implements world.Client.
func (n *None) Offer(c *world.Call) {
	n.w.Send(c, c.Route, &sent{w: n.w, c: c, refused: func(a *world.Answer) {
		n.w.End(c, world.Outcome{Kind: world.Failed, Reason: status(a), Final: true})
	}})
}

// sent follows one send to its end.
type sent struct {
	w *world.World
	c *world.Call
	// refused is told of a refusal, which ends nothing; done of an end, before the call is ended. Either may be nil.
	refused, done func(*world.Answer)
}

// Headers implements world.Listener.
func (s *sent) Headers(a *world.Answer) {
	if a.Status != http.StatusOK {
		s.refused(a)
	}
}

// Progress implements world.Listener.
func (s *sent) Progress(float64) {}

// Done implements world.Listener.
func (s *sent) Done(a *world.Answer) {
	if s.done != nil {
		s.done(a)
	}
	if a.HungUp {
		s.w.End(s.c, world.Outcome{Kind: world.Failed, Reason: world.ReasonHungUp, Final: true})
		return
	}
	s.w.End(s.c, world.Outcome{Kind: world.Succeeded})
}

func status(a *world.Answer) string { return strconv.Itoa(a.Status) }
