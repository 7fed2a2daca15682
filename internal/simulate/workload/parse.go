// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/aliases"
)

// Bounds of a workload.
const (
	MaxBytes     = 1 << 20
	maxDuration  = 24 * time.Hour
	maxGateways  = 200
	maxStreams   = 100
	maxProviders = 20
	maxLimits    = 16
	maxEvents    = 100
	maxExpect    = 200
	// MaxCalls bounds the calls that all streams offer.
	MaxCalls = 5_000_000
)

// The baselines.
const (
	BaselineNone        = "none"
	BaselineExponential = "sdk-exponential"
	BaselineNoLanes     = "gateway-no-lanes"
)

// ErrInvalid is what Parse's errors about a file's content are, each line of which names a field.
var ErrInvalid = errors.New("the workload is invalid")

// Parse reads and validates a workload.
func Parse(content []byte) (*Workload, error) {
	if len(content) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", ErrInvalid, len(content), MaxBytes)
	}
	if err := aliases.Check(content, MaxBytes); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := oneDocument(content); err != nil {
		return nil, err
	}
	asJSON, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	r := &reader{}
	root := node{r: r}
	if err := json.Unmarshal(asJSON, &root.value); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if _, ok := root.value.(map[string]any); !ok {
		return nil, fmt.Errorf("%w: it must be an object of kind Workload", ErrInvalid)
	}
	w := root.workload()
	if len(r.problems) > 0 {
		return nil, fmt.Errorf("%w:\n  %s", ErrInvalid, strings.Join(r.problems, "\n  "))
	}
	return w, nil
}

func (n node) workload() *Workload {
	o := n.object("kind", "name", "duration", "warmup", "initialLevel", "gateways", "provider", "streams", "events", "baseline", "expect")
	o.need("kind").oneOf("", "Workload")
	w := &Workload{
		Name:         o.at("name").text(""),
		Duration:     o.need("duration").duration(time.Minute, time.Second, maxDuration),
		InitialLevel: o.at("initialLevel").percent(1),
	}
	w.Warmup = o.at("warmup").duration(0, 0, maxDuration)
	if w.Warmup >= w.Duration {
		o.at("warmup").bad("must be shorter than the duration of %v", w.Duration)
	}
	w.Gateways = o.at("gateways").gateways()
	w.Providers = o.need("provider").providers()
	for _, item := range o.need("streams").list(maxStreams) {
		w.Streams = append(w.Streams, item.stream(w))
	}
	if o.has("streams") > 0 && len(w.Streams) == 0 {
		o.at("streams").bad("must have at least one stream")
	}
	for _, item := range o.at("events").list(maxEvents) {
		w.Events = append(w.Events, item.event(w))
	}
	w.baselines(o.at("baseline"))
	w.Expect = o.at("expect").expectations()
	w.tooMany(o.at("streams"))
	return w
}

func (n node) gateways() Gateways {
	o := n.object("count", "skew", "latency", "jitter", "clockDriftPPM", "sharing")
	g := Gateways{
		Count:         int(o.at("count").whole(1, 1, maxGateways)),
		Latency:       o.at("latency").duration(0, 0, time.Minute),
		Jitter:        o.at("jitter").duration(0, 0, time.Minute),
		ClockDriftPPM: o.at("clockDriftPPM").number(0, 0, 10_000),
		Sharing:       Sharing(o.at("sharing").oneOf(string(Pool), string(Pool), string(Divided))),
	}
	sum := 0.0
	for _, item := range o.at("skew").list(maxGateways) {
		g.Skew = append(g.Skew, item.number(0, 0, 1e9))
		sum += g.Skew[len(g.Skew)-1]
	}
	switch {
	case len(g.Skew) > 0 && len(g.Skew) != g.Count:
		o.at("skew").bad("must have a weight for each of the %d gateways, not %d", g.Count, len(g.Skew))
	case len(g.Skew) > 0 && sum == 0:
		o.at("skew").bad("must have a weight above 0")
	}
	return g
}

func (w *Workload) baselines(n node) {
	for _, item := range n.list(3) {
		name := item.oneOf("", BaselineNone, BaselineExponential, BaselineNoLanes)
		if slices.Contains(w.Baselines, name) {
			item.bad("appears twice")
		}
		w.Baselines = append(w.Baselines, name)
	}
}

// tooMany bounds the whole.
func (w *Workload) tooMany(n node) {
	calls := 0.0
	for i := range w.Streams {
		calls += w.Streams[i].Arrivals.expected()
	}
	if calls > MaxCalls {
		n.bad("offer about %s calls, more than %d", plain(float64(int64(calls))), MaxCalls)
	}
}

func (a Arrivals) expected() float64 {
	switch {
	case a.Count > 0:
		return float64(a.Count)
	case a.Every > 0:
		return float64((a.To - a.From + a.Every - 1) / a.Every)
	}
	return a.PerMinute * (a.To - a.From).Minutes()
}

func (n node) expectations() (out []Expectation) {
	if n.absent() {
		return nil
	}
	fields, ok := n.value.(map[string]any)
	if !ok || len(fields) > maxExpect {
		n.bad("must be an object of at most %d conditions by their paths", maxExpect)
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		at := node{r: n.r, path: n.path + "[" + cut(path) + "]", value: fields[path]}
		text, ok := at.value.(string)
		operator, value, found := strings.Cut(strings.TrimSpace(text), " ")
		number, isNumber := parseNumber(strings.TrimSpace(value))
		if !ok || !found || !isNumber || !slices.Contains(operators, operator) {
			at.bad("must be a condition such as \">= 15\" with one of %s, not %s", strings.Join(operators, " "), at.kind())
			continue
		}
		out = append(out, Expectation{Path: path, Operator: operator, Value: number})
	}
	return out
}

var operators = []string{"==", "!=", "<", "<=", ">", ">="}

// Holds says whether a value meets the condition.
func (e Expectation) Holds(got float64) bool {
	switch e.Operator {
	case "==":
		return got == e.Value
	case "!=":
		return got != e.Value
	case "<":
		return got < e.Value
	case "<=":
		return got <= e.Value
	case ">":
		return got > e.Value
	}
	return got >= e.Value
}

// String is the expectation as a result names it.
func (e Expectation) String() string { return e.Path + " " + e.Operator + " " + plain(e.Value) }
