// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"math"
	"strconv"
	"strings"
)

// whole writes a number with separators: 1,234,567.
func whole(v float64) string {
	s := strconv.FormatFloat(math.Abs(math.Round(finite(v))), 'f', 0, 64)
	var b strings.Builder
	if v <= -0.5 {
		b.WriteString("−")
	}
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

func count(n int) string { return whole(float64(n)) }

// short writes a number as axes do: 400k, 1.5M, 0.2.
func short(v float64) string {
	v = finite(v)
	for _, unit := range [...]struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.size {
			return decimal(v/unit.size) + unit.name
		}
	}
	return decimal(v)
}

// decimal has up to three significant digits, and none that say nothing.
func decimal(v float64) string {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	if strings.ContainsRune(s, 'e') {
		s = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strings.Replace(s, "-", "−", 1)
}

// percent writes a share; what is not quite all is not called all, nor what is not quite nothing nothing.
func percent(part, of float64) string {
	if of <= 0 {
		return "–"
	}
	p := 100 * finite(part/of)
	switch s := strconv.FormatFloat(p, 'f', 1, 64); {
	case s == "100.0" && p < 100:
		return "99.9 %"
	case s == "0.0" && p > 0:
		return "< 0.1 %"
	default:
		return strings.TrimSuffix(s, ".0") + " %"
	}
}

// seconds writes a time as people say it.
func seconds(s float64) string {
	s = finite(s)
	switch a := math.Abs(s); {
	case a == 0:
		return "0 s"
	case a < 0.001:
		return decimal(s*1e6) + " µs"
	case a < 0.9995:
		return decimal(s*1e3) + " ms"
	case a < 100:
		return decimal(s) + " s"
	case a < 5400:
		return decimal(s/60) + " min"
	default:
		return decimal(s/3600) + " h"
	}
}

// plural is "1 call" or "2 calls".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}
