// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

// budgets is the table of a provider's true buckets in all runs.
func budgets(route string, runs []run, l *left) table {
	t := table{Class: "second", Caption: "The provider's budgets", Head: []string{"Budget", "Run", "Used", "Utilisation", "Above burst + rate × time", "Deepest debt"}}
	first := runs[0].r.Provider[route]
	if first == nil {
		return t
	}
	for _, key := range keys(first.Budgets, maxBudgets, "budgets of "+name(route), l) {
		head := name(key)
		for _, r := range runs {
			p := r.r.Provider[route]
			if p == nil || p.Budgets[key] == nil {
				continue
			}
			b := p.Budgets[key]
			if r.Style == runs[0].Style && b.WindowSeconds > 0 {
				head += " (" + short(b.Amount) + " a " + window(b.WindowSeconds) + ")"
			}
			t.add(head, r.Name, short(b.Used), percent(b.Utilisation, 1), short(max(0, b.MaxExcess)), short(max(0, b.MaxDebt)))
			head = ""
		}
	}
	return t
}

// lanes is the table of what the policy promises each lane and what happened.
func lanes(route string, headgate run, l *left) table {
	t := table{
		Caption: "What the policy promises each lane, and what happened",
		Head: []string{
			"Lane", "Sure share", "Largest call goes within", "Longest wait", "Later than on a bucket of its own", "Admitted", "Refused", "Most queued",
		},
	}
	p := headgate.r.Provider[route]
	if p == nil {
		return t
	}
	for _, key := range keys(p.Lanes, maxLanes, "lanes of "+name(route), l) {
		v := p.Lanes[key]
		if v == nil {
			continue
		}
		promise := "–"
		if v.LargestSeconds > 0 {
			promise = seconds(v.LargestSeconds)
		}
		t.add(name(key), percent(v.Share, 1), promise, seconds(v.LongestWait), seconds(max(0, v.LatenessMax)),
			count(v.Admitted), count(v.Refused), count(v.QueuedAtMost))
	}
	return t
}

// window is how people call the length of a window.
func window(s float64) string {
	switch s {
	case 1:
		return "second"
	case 60:
		return "minute"
	case 3600:
		return "hour"
	case 86400:
		return "day"
	}
	return seconds(s)
}
