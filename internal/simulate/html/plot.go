// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// plot is a drawing, ready to be written.
type plot struct {
	ID, Title, Desc string
	// XLabel and YLabel name the axes and their units.
	XLabel, YLabel string
	XTicks, YTicks []tick
	// Zero is where the line of nothing is drawn.
	Zero float64
	// Warmup is how far the band of what is not counted reaches; 0 for none.
	Warmup float64
	// Ceiling is where the line of the most is drawn; 0 for none.
	Ceiling float64
	Curves  []curve
}

// The template reads the box.

// Left is where the plot begins.
func (plot) Left() int { return marginLeft }

// Right is where it ends.
func (plot) Right() int { return plotRight }

// Top is its upper edge.
func (plot) Top() int { return marginTop }

// Bottom is its lower edge.
func (plot) Bottom() int { return plotBottom }

// Inner is its height.
func (plot) Inner() int { return plotBottom - marginTop }

// Width and Height are the drawing's, labels and all.
func (plot) Width() int { return width }

// Height is the drawing's.
func (plot) Height() int { return height }

// YTickAt is where the labels of the vertical axis end, XTickAt where those below the horizontal one stand, and
// XLabelAt where its unit does.
func (plot) YTickAt() int { return marginLeft - 7 }

// XTickAt is the base line of the labels of the horizontal axis.
func (plot) XTickAt() int { return plotBottom + 18 }

// XLabelAt is the base line of its unit.
func (plot) XLabelAt() int { return height - 5 }

// curve is a line of a plot. Style is its class: a colour and dashes.
type curve struct {
	Name, Style, Path string
}

// line is a curve before it is drawn.
type line struct {
	name, style string
	points      []result.Point
	// steps draws no slope between points.
	steps bool
}

// path draws points, of which it keeps about most, the peaks among them.
func path(l line, x, y axis, most int) string {
	var b strings.Builder
	for i, p := range thin(l.points, most) {
		px, py := place(x.at(p.Seconds)), place(y.at(p.Value))
		switch {
		case i == 0:
			b.WriteString("M" + px + " " + py)
		case l.steps:
			b.WriteString("H" + px + "V" + py)
		default:
			b.WriteString("L" + px + " " + py)
		}
	}
	return b.String()
}

// place is a coordinate: a tenth of a unit is finer than a screen.
func place(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// thin keeps of each of most/2 stretches of points the lowest and the highest, in order, so that no peak is lost.
func thin(points []result.Point, most int) []result.Point {
	most = max(most, 4)
	if len(points) <= most {
		return points
	}
	out := make([]result.Point, 0, most+2)
	out = append(out, points[0])
	stretches := most/2 - 1
	for i := range stretches {
		part := points[i*len(points)/stretches : (i+1)*len(points)/stretches]
		low, high := 0, 0
		for j, p := range part {
			if p.Value < part[low].Value {
				low = j
			}
			if p.Value > part[high].Value {
				high = j
			}
		}
		out = append(out, part[min(low, high)])
		if low != high {
			out = append(out, part[max(low, high)])
		}
	}
	return append(out, points[len(points)-1])
}
