// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// maxRuns is how many incarnations of a pod are told apart: the newest, and one whose last reports are late.
const maxRuns = 2

// gateway is one pod, through its restarts.
type gateway struct {
	pod Pod
	// runs are its incarnations, newest last.
	runs []*run
	// used is what it spent of each limit within the window.
	used map[limitKey]*ring
	// heard is when it last reported, in the receiver's time.
	heard time.Time
	// gone pods are kept for their part of the window.
	gone bool
}

type routeKey struct{ policy, provider string }

type limitKey struct {
	routeKey
	limit string
}

// run is one incarnation: the largest counters it reported, and the newest levels.
type run struct {
	incarnation uint64
	sequence    uint64
	started     time.Time
	lastCall    time.Time
	draining    bool
	routes      map[routeKey]*route
}

// route is what a run reported of one policy's provider. Levels hold only while sequence is the run's.
type route struct {
	sequence   uint64
	generation int64
	counts     [numRouteCounts]float64
	limits     map[string]*limitSeen
	lanes      map[string]*laneSeen
	models     map[string]*[numModelCounts]float64
	state      string
	message    string
	code       string
	quotaReset time.Time
	lastCall   time.Time
	lastSend   time.Time // in the receiver's time
	// waiting and dead are the deferred calls that are still to be made, and those that were given up.
	waiting, dead float64
}

type limitSeen struct {
	sequence                        uint64
	offered, spent                  float64
	level, capacity, held, reserved float64
	binding, known                  bool
	atProvider, ofProvider          float64
	providerBinding                 bool
	effective, outsiders            float64
	// said counts reports of sends after which the provider's limit was known.
	said int
}

// maxSaid is more than anybody asks for.
const maxSaid = 100

// heard counts a report; sent says that something was sent since the one before.
func (l *limitSeen) heard(sent bool) {
	switch {
	case !l.known || l.ofProvider <= 0:
		l.said = 0
	case sent:
		l.said = min(l.said+1, maxSaid)
	}
}

type laneSeen struct {
	sequence uint64
	counts   [numLaneCounts]float64
	queued   float64
	oldest   time.Duration
	largest  float64
	fullness float64
}

// run returns the run of an incarnation, made when new; fresh says that it was.
func (g *gateway) run(incarnation uint64, started time.Time) (r *run, fresh bool) {
	for _, r := range g.runs {
		if r.incarnation == incarnation {
			return r, false
		}
	}
	r = &run{incarnation: incarnation, started: started, routes: map[routeKey]*route{}}
	if len(g.runs) == maxRuns {
		g.runs = append(g.runs[:0], g.runs[1:]...)
	}
	g.runs = append(g.runs, r)
	return r, true
}

func (g *gateway) newest() *run { return g.runs[len(g.runs)-1] }

// route finds or makes a route's memory; nil when the run has too many.
func (r *run) route(key routeKey) *route {
	if e := r.routes[key]; e != nil {
		return e
	}
	if len(r.routes) >= 2*wire.MaxRoutes {
		for k, e := range r.routes {
			if e.sequence != r.sequence {
				delete(r.routes, k)
			}
		}
	}
	if len(r.routes) >= 2*wire.MaxRoutes || !validName(key.policy) || !validName(key.provider) {
		return nil
	}
	e := &route{
		limits: map[string]*limitSeen{},
		lanes:  map[string]*laneSeen{},
		models: map[string]*[numModelCounts]float64{},
	}
	r.routes[key] = e
	return e
}

// seen finds or makes a name's memory in a bounded map of a route; nil when it is full.
func seen[T any](m map[string]*T, name string, most int) *T {
	if e := m[name]; e != nil {
		return e
	}
	if len(m) >= most || !validName(name) {
		return nil
	}
	e := new(T)
	m[name] = e
	return e
}
