// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"fmt"
	"math"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// figure is a plot with its heading, legend and table.
type figure struct {
	Heading string
	Plot    plot
	Legend  []curve
	Table   table
	// CeilingName says what the dotted line is.
	CeilingName string

	desc, yLabel string
	// end is where the axis of time ends; longest, where above 0, the longest of waits instead.
	end, longest float64
	ceiling      float64
	over         over
	lines        []line
}

// over says how a table sums up a stretch of time.
type over uint8

const (
	atTheEnd over = iota
	theMost
	theMean
)

var overSays = [...]string{"at that time", "the most since the time before", "the mean since the time before"}

// add adds a curve; one too many is dropped and said so.
func (f *figure) add(l line) {
	if len(f.lines) < maxCurves {
		f.lines = append(f.lines, l)
	}
}

// draw fills in Plot, Legend and Table. Every curve keeps about most points.
func (f *figure) draw(id string, warmup float64, most int) {
	x, xTicks, unit := timeAxis(f.end)
	xLabel := unit + " since the start"
	low, high := f.span()
	y, yTicks := upAxis(low, high)
	if f.longest > 0 {
		x, xTicks = waitAxis(f.longest)
		xLabel, warmup = "seconds waited (logarithmic)", 0
	}
	f.Plot = plot{
		ID: id, Title: f.Heading, Desc: f.describe(), XLabel: xLabel, YLabel: f.yLabel, XTicks: xTicks, YTicks: yTicks, Zero: y.at(0),
	}
	if warmup = finite(warmup); warmup > 0 {
		f.Plot.Warmup = x.at(warmup) - marginLeft
	}
	if f.ceiling > 0 {
		f.Plot.Ceiling = y.at(f.ceiling)
	}
	for _, l := range f.lines {
		c := curve{Name: l.name, Style: l.style}
		f.Legend = append(f.Legend, c)
		c.Path = path(l, x, y, most)
		// The first is Headgate's, and is to be on top.
		f.Plot.Curves = append([]curve{c}, f.Plot.Curves...)
	}
	if f.longest > 0 {
		f.Table = f.waitTable(x)
	} else {
		f.Table = f.timeTable()
	}
}

func (f *figure) span() (low, high float64) {
	high = f.ceiling
	for _, l := range f.lines {
		for _, p := range l.points {
			low, high = min(low, finite(p.Value)), max(high, finite(p.Value))
		}
	}
	return low, high
}

// describe is for those who do not see the plot: what it shows, and the extremes of each curve.
func (f *figure) describe() string {
	text := f.desc
	for _, l := range f.lines {
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range l.points {
			low, high = min(low, finite(p.Value)), max(high, finite(p.Value))
		}
		if low <= high {
			text += fmt.Sprintf(" %s: from %s to %s.", l.name, short(low), short(high))
		}
	}
	return text
}

// rows of a table below a plot.
const tableRows = 12

func (f *figure) timeTable() table {
	t := table{Caption: f.yLabel + ", " + overSays[f.over], Head: []string{"Time"}}
	places := make([]int, len(f.lines))
	for _, l := range f.lines {
		t.Head = append(t.Head, l.name)
	}
	for i := 1; i <= tableRows; i++ {
		until := finite(f.end) * float64(i) / tableRows
		cells := make([]string, len(f.lines))
		for j, l := range f.lines {
			var part []result.Point
			part, places[j] = stretch(l.points, places[j], until)
			cells[j] = f.over.of(part)
		}
		t.add(seconds(until), cells...)
	}
	return t
}

// stretch is the points from index on that are not after until, and the index of the next.
func stretch(points []result.Point, index int, until float64) ([]result.Point, int) {
	first := index
	for index < len(points) && points[index].Seconds <= until*(1+1e-9) {
		index++
	}
	return points[first:index], index
}

func (o over) of(points []result.Point) string {
	if len(points) == 0 {
		return "–"
	}
	v := finite(points[len(points)-1].Value)
	sum := 0.0
	for _, p := range points {
		sum += finite(p.Value)
		if o == theMost {
			v = max(v, finite(p.Value))
		}
	}
	if o == theMean {
		v = sum / float64(len(points))
	}
	return short(v)
}
