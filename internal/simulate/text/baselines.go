// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package text

import "github.com/headgate-dev/headgate/internal/simulate/result"

// baselines puts the main figures of each run side by side.
func (p *page) baselines(r *result.Result) {
	if len(r.Baselines) == 0 {
		return
	}
	p.line("\nThe same arrivals without Headgate, or with less of it")
	rows := [][]string{{"RUN", "SUCCEEDED", "NOT", "SENDS", "429", "529", "SENDS/SUCCESS", "TOO LATE", "UTILISATION"}}
	rows = append(rows, overall("headgate", r))
	for _, name := range sorted(r.Baselines) {
		rows = append(rows, overall(name, r.Baselines[name]))
	}
	p.table(rows)
	head := []string{"SUCCEEDED, BY STREAM", "OFFERED", "headgate"}
	waits := []string{"WAIT P99, BY STREAM", "", "headgate"}
	for _, name := range sorted(r.Baselines) {
		head, waits = append(head, name), append(waits, name)
	}
	rows, rowsOfWaits := [][]string{head}, [][]string{waits}
	for _, stream := range sorted(r.Streams) {
		own := r.Streams[stream]
		row := []string{stream, count(own.Offered), count(own.Succeeded)}
		rowOfWaits := []string{stream, "", wait(own, own.Wait.P99)}
		for _, name := range sorted(r.Baselines) {
			other := r.Baselines[name].Streams[stream]
			if other == nil {
				other = &result.Stream{}
			}
			row, rowOfWaits = append(row, count(other.Succeeded)), append(rowOfWaits, wait(other, other.Wait.P99))
		}
		rows, rowsOfWaits = append(rows, row), append(rowsOfWaits, rowOfWaits)
	}
	p.table(append(append(rows, []string{}), rowsOfWaits...))
}

// overall is one run in a row.
func overall(name string, r *result.Result) []string {
	var succeeded, offered, late, sends, throttled, overloaded int
	for _, s := range r.Streams {
		succeeded += s.Succeeded
		offered += s.Offered
		late += s.TooLate
	}
	used := 0.0
	for _, p := range r.Provider {
		sends += p.Sends
		throttled += p.Rejected429
		overloaded += p.Rejected529
		for _, b := range p.Budgets {
			used = max(used, b.Utilisation)
		}
	}
	each := "-"
	if succeeded > 0 {
		each = exact(float64(sends*100/succeeded) / 100)
	}
	return []string{
		name, count(succeeded), count(offered - succeeded), count(sends), count(throttled), count(overloaded), each,
		count(late), percent(used),
	}
}
