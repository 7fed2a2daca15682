// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// atOnce is what nobody waits for, in seconds.
const atOnce = 0.001

// windows are how an amount's window is written.
var windows = map[float64]string{1: "/s", 60: "/min", 3600: "/h", 86400: "/day"}

// count is a whole number as people read it: 1,234,567.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// amount is a number of units.
func amount(v float64) string { return count(int(math.Round(v))) }

// exact is a number as an expectation would write it.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func percent(part float64) string { return strconv.FormatFloat(100*part, 'f', 1, 64) + "%" }

// seconds is a time with as many places as matter.
func seconds(v float64) string {
	d := time.Duration(v * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 100*time.Second:
		return strconv.FormatFloat(v, 'f', 1, 64) + "s"
	}
	return span(v)
}

// span is a time in whole seconds.
func span(v float64) string {
	text := time.Duration(math.Round(v) * float64(time.Second)).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// wait is a figure of waits, a dash where no call was sent.
func wait(s *result.Stream, v float64) string {
	if s.Attempts == 0 {
		return "-"
	}
	return seconds(v)
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func total(m map[string]int) string { return count(sum(m)) }

// reasons are the reasons with their numbers, the most frequent first.
func reasons(verb string, m map[string]int) string {
	names := sorted(m)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(m[b], m[a]) })
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s %s %s", count(m[name]), verb, name)
	}
	return strings.Join(parts, ", ")
}
