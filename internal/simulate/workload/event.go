// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

var eventKinds = []string{"overload", "scale", "crash", "partition", "outsiders", "edit"}

func (n node) event(w *Workload) Event {
	o := n.object(append([]string{"at", "until"}, eventKinds...)...)
	e := Event{At: o.need("at").duration(0, 0, w.Duration)}
	if o.has(eventKinds...) != 1 {
		o.bad("must have just one of overload, scale, crash, partition, outsiders and edit")
		return e
	}
	lasts := o.has("overload", "partition", "outsiders") > 0
	until := o.at("until")
	e.Until = until.duration(w.Duration, 0, w.Duration)
	switch {
	case !lasts && !until.absent():
		until.bad("has no meaning for what happens at once")
	case e.Until < e.At:
		until.bad("must not be before at")
	}
	e.Overload = o.at("overload").route(w)
	e.Scale = int(o.at("scale").whole(0, 1, maxGateways))
	e.Crash = o.at("crash").crash(w, e.At)
	e.Partition = o.at("partition").oneOf("", "coordinator") != ""
	e.Outsiders = o.at("outsiders").outsiders(w)
	e.Edit = o.at("edit").edit()
	return e
}

func (n node) crash(w *Workload, at time.Duration) *Crash {
	if n.absent() {
		return nil
	}
	o := n.object("gateway", "every", "until")
	c := &Crash{
		Gateway: int(o.at("gateway").whole(0, 0, maxGateways-1)),
		Every:   o.at("every").duration(0, 10*time.Millisecond, maxDuration),
		Until:   o.at("until").duration(at, 0, w.Duration),
	}
	if c.Every > 0 && o.at("until").absent() {
		c.Until = w.Duration
	}
	switch {
	case c.Until < at:
		o.at("until").bad("must not be before at")
	case c.Every == 0 && !o.at("until").absent():
		o.at("until").bad("has no meaning without every")
	}
	return c
}

func (n node) outsiders(w *Workload) *Outsiders {
	if n.absent() {
		return nil
	}
	o := n.object("provider", "inputTokensPerSecond", "outputTokensPerSecond", "callsPerSecond")
	out := &Outsiders{
		Route:                 o.need("provider").route(w),
		InputTokensPerSecond:  o.at("inputTokensPerSecond").number(0, 0, maxAmount),
		OutputTokensPerSecond: o.at("outputTokensPerSecond").number(0, 0, maxAmount),
		CallsPerSecond:        o.at("callsPerSecond").number(0, 0, 1e6),
	}
	if out.InputTokensPerSecond+out.OutputTokensPerSecond+out.CallsPerSecond == 0 {
		o.bad("must use something: inputTokensPerSecond, outputTokensPerSecond or callsPerSecond")
	}
	return out
}

func (n node) edit() *Edit {
	if n.absent() {
		return nil
	}
	o := n.object("limit", "amount")
	return &Edit{Limit: o.need("limit").text(""), Amount: o.need("amount").whole(0, 0, plan.MaxAmount)}
}
