// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"time"
)

const (
	maxTokens  = 1e9
	maxSigma   = 5
	maxSeconds = 24 * 60 * 60
	maxHeaders = 8
)

func (n node) stream(w *Workload) Stream {
	o := n.object("name", "tenant", "provider", "lane", "model", "path", "header", "arrivals", "inputTokens", "outputTokens", "maxTokens",
		"callTime", "deadline", "streaming", "disconnectPercent", "estimateErrorPercent", "sdkRetries")
	s := Stream{
		Name: o.need("name").text(""), Tenant: o.at("tenant").text(""), Route: o.need("provider").route(w),
		Lane: o.at("lane").text(""), Model: o.at("model").text("model"), Path: o.at("path").text("/"),
		Header:               o.at("header").strings(),
		Arrivals:             o.need("arrivals").arrivals(w.Duration),
		InputTokens:          o.need("inputTokens").tokens(Distribution{}),
		OutputTokens:         o.at("outputTokens").tokens(Distribution{}),
		MaxTokens:            o.at("maxTokens").number(0, 0, maxTokens),
		CallTime:             o.at("callTime").seconds(Distribution{Median: 1}),
		Deadline:             o.at("deadline").duration(0, time.Millisecond, maxDuration),
		Streaming:            o.at("streaming").yes(false),
		DisconnectPercent:    o.at("disconnectPercent").number(0, 0, 100),
		EstimateErrorPercent: o.at("estimateErrorPercent").number(0, 0, 100),
		SDKRetries:           int(o.at("sdkRetries").whole(0, 0, 20)),
	}
	if slices.ContainsFunc(w.Streams, func(other Stream) bool { return other.Name == s.Name && s.Name != "" }) {
		o.at("name").bad("%q appears twice", cut(s.Name))
	}
	return s
}

// strings reads a map of strings.
func (n node) strings() map[string]string {
	if n.absent() {
		return nil
	}
	fields, ok := n.value.(map[string]any)
	if !ok || len(fields) > maxHeaders {
		n.bad("must be an object of at most %d strings", maxHeaders)
		return nil
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out[name] = object{node: n, fields: fields}.at(name).text("")
	}
	return out
}

// arrivals reads when calls come; a stream has one kind of them.
func (n node) arrivals(duration time.Duration) Arrivals {
	o := n.object("every", "from", "to", "at", "count", "poissonPerMinute")
	var a Arrivals
	if n.absent() {
		return a
	}
	if o.has("every")+max(o.has("count"), o.has("at"))+o.has("poissonPerMinute") != 1 {
		o.bad("must have just one of every, at with count, and poissonPerMinute")
		return a
	}
	if o.has("at", "count") > 0 {
		a.From = o.need("at").duration(0, 0, duration)
		a.Count = int(o.need("count").whole(1, 1, MaxCalls))
		for _, name := range [...]string{"from", "to"} {
			if !o.at(name).absent() {
				o.at(name).bad("has no meaning beside at")
			}
		}
		return a
	}
	a.From = o.at("from").duration(0, 0, duration)
	a.To = o.at("to").duration(duration, 0, duration)
	if a.To < a.From {
		o.at("to").bad("must not be before from")
		a.To = a.From
	}
	a.Every = o.at("every").duration(0, time.Microsecond, maxDuration)
	a.PerMinute = o.at("poissonPerMinute").number(0, 0, 1e8)
	return a
}

// tokens reads a number of tokens, or how it is spread.
func (n node) tokens(fallback Distribution) Distribution {
	return n.distribution(fallback, func(v node) float64 { return v.number(0, 0, maxTokens) })
}

// seconds reads a duration, or how it is spread.
func (n node) seconds(fallback Distribution) Distribution {
	return n.distribution(fallback, func(v node) float64 { return v.duration(0, 0, maxSeconds*time.Second).Seconds() })
}

// distribution reads a bare value, {constant: value} or {lognormal: {median: value, sigma: number}}.
func (n node) distribution(fallback Distribution, value func(node) float64) Distribution {
	if n.absent() {
		return fallback
	}
	if _, ok := n.value.(map[string]any); !ok {
		return Distribution{Median: value(n)}
	}
	o := n.object("constant", "lognormal")
	if o.has("constant", "lognormal") != 1 {
		o.bad("must be a value, or have just one of constant and lognormal")
		return fallback
	}
	if at := o.at("constant"); !at.absent() {
		return Distribution{Median: value(at)}
	}
	l := o.at("lognormal").object("median", "sigma")
	return Distribution{Median: value(l.need("median")), Sigma: l.need("sigma").number(0, 0, maxSigma)}
}
