// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Bounds of a page. Together they keep it below MaxBytes.
const (
	maxBaselines    = 4
	maxStreams      = 20
	maxWaits        = 12
	maxRoutes       = 4
	maxBudgets      = 6
	maxCurves       = 8 // in one plot
	maxTenants      = 30
	maxLanes        = 16
	maxExpectations = 100
	// maxPoints is what all curves share; a point takes some ten bytes.
	maxPoints      = 24_000
	maxCurvePoints = 320
	maxNameRunes   = 40
	maxReasons     = 4
)

// name makes a name fit to print.
func name(s string) string {
	s = printable(s)
	if runes := []rune(s); len(runes) > maxNameRunes {
		return string(runes[:maxNameRunes-1]) + "…"
	}
	return s
}

// printable is s on one line, without what cannot be seen or turns the direction of text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// mostValue bounds what is drawn, so that no sum or quotient of values leaves the numbers.
const mostValue = 1e18

// finite is v within what can be drawn, 0 where v is no number.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return min(max(v, -mostValue), mostValue)
}

// left notes what a page does not show.
type left struct{ notes []string }

func (l *left) add(n int, what string) {
	if n > 0 {
		l.notes = append(l.notes, count(n)+" more "+what)
	}
}

// keys are m's keys in order, at most n of them; the others are noted.
func keys[V any](m map[string]V, n int, what string, l *left) []string {
	all := slices.Sorted(maps.Keys(m))
	if len(all) > n {
		l.add(len(all)-n, what)
		all = all[:n]
	}
	return all
}
