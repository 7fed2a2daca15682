// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/sharing"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// maxRemembered bounds the routes that are remembered after they are gone, so that a policy that is
// removed and made again does not start with full buckets.
const maxRemembered = 128

// defaultPatience is the deadline where neither a policy nor the call states one.
const defaultPatience = time.Minute

// route is what lives on over edits of a policy's provider.
type route struct {
	gate gate
	// member is the gate where other gateways use the same limits, else nil.
	member *sharing.Member
	tally  *tally.Route
	quotas quotas
	health health
	// ceilings are the waits that are too long to be waited.
	ceilings ceilings
	// told are the waits that clients were told with the last answer to a call.
	told ceilings
	// retries bounds the retries that no provider asked for.
	retries retryBudget
	// overloads keeps calls back from models that are overloaded.
	overloads breakers
	// provider is whose answers all that is of.
	provider admission.Provider
	goneAt   time.Time
	// unattended wait without their callers, wherever they go: all are in the gate's queues.
	unattended *unattended
}

// at returns the route as it is at a provider. What is known of another one, that a quota is spent or a wait too long, says
// nothing there; what the policy counts goes on.
func (r *route) at(p admission.Provider) *route {
	if r.provider == p {
		return r
	}
	return &route{gate: r.gate, member: r.member, tally: r.tally, unattended: r.unattended, provider: p}
}

// config is one plan's view of a route; immutable.
type config struct {
	*route

	policy     string // "" where no policy governs
	generation int64
	plan       plan.Route
	dialect    dialect.Dialect
	facts      facts.Facts
	base       *url.URL
	// baseErr says why the route cannot be called.
	baseErr error
	// ownPort is the base URL's port if its host is this one, else "".
	ownPort  string
	lanes    []*tally.Lane
	rules    lanes
	settings decide.Settings
	// patience is the deadline of a call that states none.
	patience time.Duration
	// failover is the route of the same policy that calls fail over to; nil if none may serve them.
	failover *config
	// keepsHeader: a call may go elsewhere with its headers as they came, so that a send works on a copy.
	keepsHeader bool
	// who names the policy and display the provider in messages.
	who, display string
}

// table is one plan's routes by the names apps call.
type table struct {
	routes map[string]*config
	// order has every route once, whatever names it has.
	order    []*config
	revision int64
}

// maxNamed bounds the routes that are named to a call of none.
const maxNamed = 40

func (t *table) unknown(name string) *problem {
	names := slices.Sorted(maps.Keys(t.routes))
	for i, n := range names {
		names[i] = "/" + n
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	if len(name) > 40 {
		name = name[:40] + "…"
	}
	return &problem{
		http.StatusNotFound, "headgate_unknown_route",
		"headgate: there is no route /" + strings.ToValidUTF8(name, "?") + "; routes are " + strings.Join(names, ", ") + ".",
	}
}

// Apply puts a plan in force. What its policies do not touch keeps its levels.
func (g *Gateway) Apply(p *plan.Plan, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plan = p
	g.applyLocked(now)
}

// Rekeyed forgets which quotas of some of the gateway's own keys are spent: they are others, perhaps of other accounts, and who
// renewed one for that is served at once. An account that is as it was is found out by its next call. Waits stay: the gate
// keeps them, and calls fail over for as long. Until now calls may have been given a key from before.
func (g *Gateway) Rekeyed(keys []string, now time.Time) {
	accounts := map[uint64]bool{}
	for _, key := range keys {
		accounts[accountOf(key)] = true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.routes {
		r.quotas.forget(accounts, now)
	}
}

// SetLabels puts changed labels of the pod in force: they choose among policies.
func (g *Gateway) SetLabels(labels map[string]string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if maps.Equal(labels, g.labels) {
		return
	}
	g.labels = labels
	g.applyLocked(now)
}

func (g *Gateway) applyLocked(now time.Time) {
	t := &table{routes: map[string]*config{}, revision: g.plan.Revision}
	byKey := map[string]*config{}
	for _, name := range g.namesLocked() {
		policy, r, ok := g.plan.Select(g.labels, name)
		if !ok {
			t.routes[name] = g.configLocked(byKey, nil, builtin(name), now)
			continue
		}
		t.routes[name] = g.configLocked(byKey, policy, *r, now)
	}
	for name, cfg := range t.routes {
		if cfg == nil {
			delete(t.routes, name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		byKey[key].bindFailover(byKey)
		t.order = append(t.order, byKey[key])
	}
	g.forgetLocked(byKey, now)
	g.table.Store(t)
	g.hasten()
}

// namesLocked are the routes an app of this pod may call; mu is held. A dialect that has no URL of its own has its
// built-in route where a policy gives it one.
func (g *Gateway) namesLocked() []string {
	names := map[string]bool{}
	for _, f := range facts.All() {
		_, _, governed := g.plan.Select(g.labels, f.Route)
		if f.DefaultBaseURL != "" || governed {
			names[f.Route] = true
		}
	}
	for i := range g.plan.Policies {
		if p := &g.plan.Policies[i]; p.Selects(g.labels) {
			for j := range p.Routes {
				names[p.Routes[j].Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// builtin is a dialect's own route, governed by no policy: calls pass and are counted.
func builtin(name string) plan.Route {
	f, _ := facts.ByRoute(name)
	return plan.Route{
		Name: name, Dialect: f.Name, BaseURL: f.DefaultBaseURL, Observe: true,
		Lanes: []plan.Lane{{Name: "default", SharePermille: 1000}},
	}
}

func (g *Gateway) configLocked(byKey map[string]*config, policy *plan.Policy, r plan.Route, now time.Time) *config {
	cfg := &config{plan: r, settings: settings(&r), patience: defaultPatience}
	if r.Deadline.DefaultMillis > 0 {
		cfg.patience = millis(r.Deadline.DefaultMillis)
	}
	var maxGateways int32
	if policy != nil {
		cfg.policy, cfg.generation, maxGateways = policy.Name, policy.Generation, policy.MaxGateways
	}
	key := cfg.policy + "/" + r.Name
	if known := byKey[key]; known != nil {
		return known
	}
	d, ok := g.opts.Dialect(r.Dialect)
	if !ok {
		// A dialect this gateway is too old for: the route is left out, as a route it does not have.
		return nil
	}
	cfg.dialect, cfg.facts = d, d.Facts()
	if cfg.base, cfg.baseErr = parseBase(r.BaseURL); cfg.baseErr == nil {
		cfg.ownPort = loopbackPort(cfg.base)
	}
	cfg.who, cfg.display = g.plan.Namespace+"/"+cfg.policy, display(cfg.facts, r.Name)
	cfg.route = g.routeLocked(key, cfg, maxGateways, now)
	cfg.rules = lanesOf(&cfg.plan)
	for _, l := range r.Lanes {
		cfg.lanes = append(cfg.lanes, cfg.tally.Lane(l.Name))
	}
	byKey[key] = cfg
	return cfg
}

// bindFailover finds the route to fail over to. Where another policy governs the pod's calls to it, or it speaks
// another dialect, there is none: the budgets of both would count for nothing.
func (cfg *config) bindFailover(byKey map[string]*config) {
	on := cfg.plan.Throttle.OnCeilingExceeded
	cfg.keepsHeader = on != "" || cfg.plan.Deadline.OnExceeded != ""
	to := byKey[cfg.policy+"/"+cfg.plan.Throttle.FailoverTo]
	if on == plan.Failover && to != nil && to != cfg && to.policy == cfg.policy && to.plan.Dialect == cfg.plan.Dialect {
		cfg.failover = to
	}
}

// routeLocked returns the lasting part of a route, with the plan's numbers in force; mu is held.
func (g *Gateway) routeLocked(key string, cfg *config, maxGateways int32, now time.Time) *route {
	at := admission.Provider{Dialect: cfg.plan.Dialect, BaseURL: cfg.plan.BaseURL}
	if r, ok := g.routes[key]; ok {
		r = r.at(at)
		g.routes[key] = r
		r.goneAt = time.Time{}
		r.gate.Configure(cfg.plan, maxGateways, now)
		return r
	}
	r := &route{tally: tally.NewRoute(), unattended: &unattended{}, provider: at}
	if g.opts.Shared && cfg.policy != "" {
		r.member = g.memberOf(cfg, maxGateways, now)
		r.gate = r.member
	} else {
		r.gate = admission.New(admission.Options{Facts: cfg.facts, MaxBytes: g.waitingBytes()}, cfg.plan, maxGateways, now)
	}
	g.routes[key] = r
	return r
}

// forgetLocked lets go of the routes that are gone the longest, beyond the bound; mu is held.
func (g *Gateway) forgetLocked(live map[string]*config, now time.Time) {
	var gone []string
	for key, r := range g.routes {
		if live[key] != nil {
			continue
		}
		if r.goneAt.IsZero() {
			r.goneAt = now
		}
		gone = append(gone, key)
	}
	slices.SortFunc(gone, func(a, b string) int { return g.routes[a].goneAt.Compare(g.routes[b].goneAt) })
	for len(gone) > maxRemembered {
		// Calls that still wait there are decided by the gate's own timer until they have all gone.
		delete(g.routes, gone[0])
		gone = gone[1:]
	}
}

func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &url.Error{Op: "parse", URL: raw, Err: http.ErrNotSupported}
	}
	return u, upstream.CheckHost(u.Hostname(), portOf(u))
}

// portOf is a URL's port, by its scheme's name where it states none.
func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return u.Scheme
}

func display(f facts.Facts, route string) string {
	if f.Name == facts.Generic {
		return route
	}
	return f.Name
}
