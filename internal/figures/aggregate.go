// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import "time"

// Bounds on one policy's aggregate. A policy has fewer of each; the slack is for names that edits replace.
const (
	maxProviders  = 64
	maxLimits     = 64
	maxLanes      = 32
	maxModelNames = 20
	// modelOther takes the tokens of every further model.
	modelOther = "other"
)

// aggregate is what all gateways together did for one policy.
type aggregate struct {
	// since is from when on nothing was missed.
	since     time.Time
	touched   time.Time
	activity  activity
	providers map[string]*provider
}

type provider struct {
	touched time.Time
	counts  [numRouteCounts]counter
	// largest is the largest call of those no limit could fit.
	largest ring
	limits  map[string]*limit
	lanes   map[string]*lane
	models  map[string]*[numModelCounts]float64
}

type limit struct {
	touched       time.Time
	offered, used flow
}

type lane struct {
	touched time.Time
	counts  [numLaneCounts]counter
	worst   ring // milliseconds
	// grew is by how much the queues of all gateways grew.
	grew ring
}

func newAggregate(since time.Time) *aggregate {
	return &aggregate{since: since, activity: newActivity(), providers: map[string]*provider{}}
}

func newProvider() *provider {
	p := &provider{
		largest: newRecent(),
		limits:  map[string]*limit{},
		lanes:   map[string]*lane{},
		models:  map[string]*[numModelCounts]float64{},
	}
	for i := range p.counts {
		p.counts[i] = newCounter()
	}
	return p
}

func newLimit() *limit { return &limit{offered: newFlow(), used: newFlow()} }

func newLane() *lane {
	l := &lane{worst: newRecent(), grew: newRecent()}
	for i := range l.counts {
		l.counts[i] = newCounter()
	}
	return l
}

func (a *aggregate) lastTouched() time.Time { return a.touched }
func (p *provider) lastTouched() time.Time  { return p.touched }
func (l *limit) lastTouched() time.Time     { return l.touched }
func (l *lane) lastTouched() time.Time      { return l.touched }

// model returns where a model's tokens go.
func (p *provider) model(name string) *[numModelCounts]float64 {
	if m := p.models[name]; m != nil {
		return m
	}
	if len(p.models) >= maxModelNames || !validName(name) {
		name = modelOther
	}
	m := p.models[name]
	if m == nil {
		m = new([numModelCounts]float64)
		p.models[name] = m
	}
	return m
}

type touchable interface {
	comparable
	lastTouched() time.Time
}

// entry finds or makes the entry of a bounded map; entries that nobody touched within the window make room.
// It returns the zero value when there is none.
func entry[T touchable](m map[string]T, name string, most int, now time.Time, fresh func() T) T {
	var none T
	if e, ok := m[name]; ok {
		return e
	}
	if !validName(name) {
		return none
	}
	if len(m) >= most {
		for n, e := range m {
			if now.Sub(e.lastTouched()) > Window {
				delete(m, n)
			}
		}
	}
	if len(m) >= most {
		return none
	}
	e := fresh()
	m[name] = e
	return e
}
