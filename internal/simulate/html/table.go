// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import "fmt"

// table is a table of text. The first column heads the rows.
type table struct {
	// Class is how it looks.
	Class, Caption string
	Head           []string
	Rows           []row
}

type row struct {
	Head  string
	Cells []string
}

func (t *table) add(head string, cells ...string) {
	t.Rows = append(t.Rows, row{head, cells})
}

// compare sets the runs side by side.
func compare(runs []run) table {
	t := table{Class: "compare untitled", Caption: "Figures beside the baselines", Head: []string{""}}
	all := make([]total, len(runs))
	for i, r := range runs {
		t.Head = append(t.Head, r.Name)
		all[i] = totals(r.r)
	}
	each := func(head string, f func(total) string) {
		cells := make([]string, len(all))
		for i := range all {
			cells[i] = f(all[i])
		}
		t.add(head, cells...)
	}
	some := func(f func(total) int) bool {
		for _, v := range all {
			if f(v) > 0 {
				return true
			}
		}
		return false
	}
	each("Calls offered", func(v total) string { return count(v.offered) })
	each("Succeeded", func(v total) string { return part(v.succeeded, v.offered) })
	if some(func(v total) int { return v.tooLate }) {
		each("… after their deadline", func(v total) string { return part(v.tooLate, v.offered) })
	}
	each("Declined before sending", func(v total) string { return part(v.declined, v.offered) })
	if some(func(v total) int { return v.deferred }) {
		each("Deferred", func(v total) string { return part(v.deferred, v.offered) })
	}
	each("Failed", func(v total) string { return part(v.failed, v.offered) })
	if some(func(v total) int { return v.unfinished }) {
		each("Unfinished at the end", func(v total) string { return part(v.unfinished, v.offered) })
	}
	each("Sends per success", perSuccess)
	each("429s, of all sends", func(v total) string { return part(v.throttled, v.sends) })
	if some(func(v total) int { return v.overloaded }) {
		each("529s, of all sends", func(v total) string { return part(v.overloaded, v.sends) })
	}
	each("Longest wait of a success", func(v total) string { return seconds(v.longestWait) })
	each("Most sends in 100 ms", func(v total) string { return count(v.peak) })
	each("Utilisation of the fullest budget", func(v total) string { return share(v, v.utilisation) })
	each("Arrivals above burst + rate × time, of the burst", func(v total) string { return share(v, v.excess) })
	return t
}

func part(n, of int) string {
	if of == 0 || n == 0 {
		return count(n)
	}
	return fmt.Sprintf("%s (%s)", count(n), percent(float64(n), float64(of)))
}

func perSuccess(v total) string {
	if v.succeeded == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(v.sends)/float64(v.succeeded))
}

func share(v total, of float64) string {
	if !v.hasBudgets {
		return "–"
	}
	return percent(of, 1)
}
