// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

const (
	// maxModels bounds what is learned; further models share one entry while all others have calls in flight.
	maxModels  = 64
	otherModel = "other"
)

// models is what is learned, by the models' names. The names are the clients', and any number of them may be wrong:
// what taught nothing goes first, then what was not used for the longest time.
type models struct {
	byName map[string]*learned
	uses   uint64
}

// of returns the entry of a model.
func (m *models) of(name string) *learned {
	m.uses++
	l, ok := m.byName[name]
	if !ok && len(m.byName) >= maxModels && !m.evict() {
		name = otherModel
		l, ok = m.byName[name]
	}
	if !ok {
		l = newLearned()
		m.byName[name] = l
	}
	l.used = m.uses
	return l
}

// evict makes room; false if every model has calls in flight.
func (m *models) evict() bool {
	var victim *learned
	var victimName string
	for name, l := range m.byName {
		if l.inFlight == 0 && (victim == nil || l.goesBefore(victim)) {
			victim, victimName = l, name
		}
	}
	delete(m.byName, victimName)
	return victim != nil
}

func (l *learned) goesBefore(other *learned) bool {
	if taught := l.taught(); taught != other.taught() {
		return !taught
	}
	return l.used < other.used
}

func (l *learned) taught() bool {
	return l.outputs+l.overheadCalls+l.storedCalls+l.text.samples+l.media.samples > 0
}
