// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

const (
	maxAmount  = 1e15
	maxLatency = time.Minute
	maxSkew    = 24 * time.Hour
)

// windows by the names the API has for them.
var windows = map[string]time.Duration{"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour, "Day": 24 * time.Hour}

func (n node) providers() (out []Provider) {
	if n.absent() {
		return nil
	}
	fields, ok := n.value.(map[string]any)
	if !ok || len(fields) == 0 || len(fields) > maxProviders {
		n.bad("must be an object of 1 to %d providers by their routes", maxProviders)
		return nil
	}
	for _, route := range slices.Sorted(maps.Keys(fields)) {
		at := object{node: n, fields: fields}.at(route)
		out = append(out, at.provider(route))
	}
	return out
}

func (n node) provider(route string) Provider {
	node{r: n.r, path: n.path, value: route}.text("")
	o := n.object("limits", "charges", "chargesRejected", "headers", "clockSkew", "latency", "jitter")
	p := Provider{
		Route:     route,
		Charges:   o.at("charges").oneOf("", string(dialect.MaxAtAdmission), string(dialect.EstimateThenActual), string(dialect.AsProduced)),
		ClockSkew: o.at("clockSkew").duration(0, -maxSkew, maxSkew),
		Latency:   o.at("latency").duration(0, 0, maxLatency),
		Jitter:    o.at("jitter").duration(0, 0, maxLatency),
		Headers:   o.at("headers").headers(),
	}
	if at := o.at("chargesRejected"); !at.absent() {
		yes := at.yes(false)
		p.ChargesRejected = &yes
	}
	for _, item := range o.at("limits").list(maxLimits) {
		p.Limits = append(p.Limits, item.limit())
	}
	p.name(o.at("limits"))
	return p
}

func (n node) headers() Headers {
	o := n.object("remaining", "roundTo", "retryAfter", "missingPercent")
	return Headers{
		Remaining: o.at("remaining").yes(true), RoundTo: o.at("roundTo").number(1, 1, maxAmount),
		RetryAfter: o.at("retryAfter").yes(true), MissingPercent: o.at("missingPercent").number(0, 0, 100),
	}
}

func (n node) limit() Limit {
	o := n.object("budget", "amount", "per", "burst", "shape")
	l := Limit{
		Budget: o.need("budget").oneOf("", plan.Requests, plan.Tokens, plan.InputTokens, plan.OutputTokens, plan.InFlight),
		Amount: o.need("amount").number(1, 0, maxAmount),
		Shape:  Shape(o.at("shape").oneOf(string(Continuous), string(Continuous), string(Fixed))),
	}
	l.Burst = o.at("burst").number(l.Amount, 0, maxAmount)
	if l.Budget == plan.InFlight {
		for _, name := range [...]string{"per", "burst", "shape"} {
			if !o.at(name).absent() {
				o.at(name).bad("has no meaning for calls in flight")
			}
		}
		return l
	}
	per := o.need("per").oneOf("Minute", "Second", "Minute", "Hour", "Day")
	l.Window = windows[per]
	if l.Shape == Fixed && l.Burst != l.Amount {
		o.at("burst").bad("must be the amount where the shape is Fixed")
	}
	return l
}

// name names the limits, and finds two that would be one.
func (p *Provider) name(n node) {
	count := map[string]int{}
	for _, l := range p.Limits {
		count[l.Budget]++
	}
	seen := map[string]bool{}
	for i := range p.Limits {
		l := &p.Limits[i]
		l.Name = l.Budget
		if count[l.Budget] > 1 {
			for per, window := range windows {
				if window == l.Window {
					l.Name += "/" + per
				}
			}
		}
		if seen[l.Name] {
			n.bad("has %s twice", l.Name)
		}
		seen[l.Name] = true
	}
}

// provider is the index of a route, -1 without one.
func (w *Workload) provider(route string) int {
	return slices.IndexFunc(w.Providers, func(p Provider) bool { return p.Route == route })
}

// route reads the name of a provider of the workload.
func (n node) route(w *Workload) string {
	route := n.text("")
	if route != "" && w.provider(route) < 0 {
		n.bad("%q is none of the workload's providers", cut(route))
	}
	return route
}
