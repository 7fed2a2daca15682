// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import "github.com/headgate-dev/headgate/internal/simulate/result"

// waits are the distributions of each stream's waits: which part of the calls offered was served within a wait. A
// curve that ends below 100 % shows by how much the run fell short.
func waits(runs []run, l *left) []*figure {
	var out []*figure
	for _, key := range keys(runs[0].r.Streams, maxWaits, "distributions of waits", l) {
		f := &figure{
			Heading: "Waits of " + name(key), yLabel: "% of the calls offered that succeeded",
			desc: "Part of the offered calls that succeeded after waiting at most so long.",
		}
		for _, r := range runs {
			if s := r.r.Streams[key]; s != nil && s.Offered > 0 {
				f.longest = max(f.longest, leastWait, finite(s.Wait.Max))
				f.add(line{name: r.Name, style: r.Style, points: served(s), steps: true})
			}
		}
		if f.longest == 0 {
			continue
		}
		f.ceiling, f.CeilingName = 100, "all of them"
		for i := range f.lines {
			f.lines[i].points = append(f.lines[i].points, result.Point{Seconds: f.longest * 10, Value: last(f.lines[i].points)})
		}
		out = append(out, f)
	}
	return out
}

// served is the cumulative distribution in percent of the calls offered.
func served(s *result.Stream) []result.Point {
	out := []result.Point{{}}
	n := 0
	for _, b := range s.Waits {
		n += b.Count
		out = append(out, result.Point{Seconds: finite(b.UpTo), Value: min(100, 100*float64(n)/float64(s.Offered))})
	}
	return out
}

func last(points []result.Point) float64 {
	if len(points) == 0 {
		return 0
	}
	return points[len(points)-1].Value
}

// waitTable reads the curves at the marks of the axis.
func (f *figure) waitTable(x axis) table {
	t := table{Caption: f.yLabel + ", by wait", Head: []string{"Waited at most"}}
	for _, l := range f.lines {
		t.Head = append(t.Head, l.name)
	}
	for v := x.from; v <= x.to*1.01; v *= 10 {
		cells := make([]string, len(f.lines))
		for i, l := range f.lines {
			part, _ := stretch(l.points, 0, v)
			cells[i] = percent(last(part), 100)
		}
		t.add(seconds(v), cells...)
	}
	return t
}
