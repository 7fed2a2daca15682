// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxProblems bounds what is said about one file.
const maxProblems = 20

// reader collects what is wrong with a file.
type reader struct{ problems []string }

// node is a value of the file with its path. The zero node stands for a field that is absent.
type node struct {
	r     *reader
	path  string
	value any
}

func (n node) bad(format string, args ...any) {
	if len(n.r.problems) < maxProblems {
		n.r.problems = append(n.r.problems, fmt.Sprintf("%s: %s", n.path, fmt.Sprintf(format, args...)))
	}
}

func (n node) absent() bool { return n.value == nil }

// kind is what a value is called.
func (n node) kind() string {
	switch v := n.value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(cut(v))
	default:
		return fmt.Sprint(v)
	}
}

// cut bounds text that is repeated to its author.
func cut(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	// A terminal must not obey what a file says.
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// object is a map whose keys are all known.
type object struct {
	node
	fields map[string]any
}

// object reads a map; an absent one is empty.
func (n node) object(known ...string) object {
	o := object{node: n}
	if n.absent() {
		return o
	}
	fields, ok := n.value.(map[string]any)
	if !ok {
		n.bad("must be an object, not %s", n.kind())
		return o
	}
	o.fields = fields
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			o.at(name).bad("is unknown: want %s", strings.Join(known, ", "))
		}
	}
	return o
}

// at is a member; absent if there is none.
func (o object) at(name string) node {
	path := cut(name)
	if o.path != "" {
		path = o.path + "." + path
	}
	return node{r: o.r, path: path, value: o.fields[name]}
}

// need is a member that must be there.
func (o object) need(name string) node {
	n := o.at(name)
	if n.absent() {
		n.bad("is required")
	}
	return n
}

// has counts the members of names that are there.
func (o object) has(names ...string) (count int) {
	for _, name := range names {
		if !o.at(name).absent() {
			count++
		}
	}
	return count
}

// list reads a list of at most a number of items.
func (n node) list(most int) []node {
	if n.absent() {
		return nil
	}
	items, ok := n.value.([]any)
	if !ok {
		n.bad("must be a list, not %s", n.kind())
		return nil
	}
	if len(items) > most {
		n.bad("has %d items, more than %d", len(items), most)
		return nil
	}
	out := make([]node, len(items))
	for i, item := range items {
		out[i] = node{r: n.r, path: fmt.Sprintf("%s[%d]", n.path, i), value: item}
		if item == nil {
			out[i].bad("is empty")
		}
	}
	return out
}

// text reads a string of at most 63 printable characters.
func (n node) text(fallback string) string {
	if n.absent() {
		return fallback
	}
	s, ok := n.value.(string)
	switch {
	case !ok:
		n.bad("must be a string, not %s", n.kind())
	case s == "" || len(s) > 63 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == 0xfffd }):
		n.bad("must be 1 to 63 printable characters")
	default:
		return s
	}
	return fallback
}

// oneOf reads one of some strings.
func (n node) oneOf(fallback string, allowed ...string) string {
	if n.absent() {
		return fallback
	}
	if s, ok := n.value.(string); ok && slices.Contains(allowed, s) {
		return s
	}
	n.bad("must be %s, not %s", strings.Join(allowed, " or "), n.kind())
	return fallback
}

func (n node) yes(fallback bool) bool {
	if n.absent() {
		return fallback
	}
	b, ok := n.value.(bool)
	if !ok {
		n.bad("must be true or false, not %s", n.kind())
	}
	return b
}

// duration reads a time such as 300ms within bounds.
func (n node) duration(fallback, least, most time.Duration) time.Duration {
	if n.absent() {
		return fallback
	}
	s, ok := n.value.(string)
	d, err := time.ParseDuration(s)
	switch {
	case !ok || err != nil:
		n.bad("must be a duration such as 300ms or 10m, not %s", n.kind())
	case d < least || d > most:
		n.bad("must be between %v and %v, not %v", least, most, d)
	default:
		return d
	}
	return fallback
}

var suffixes = map[byte]float64{'k': 1e3, 'M': 1e6, 'G': 1e9}

// number reads a number such as 12, 0.5 or 400k within bounds.
func (n node) number(fallback, least, most float64) float64 {
	if n.absent() {
		return fallback
	}
	v, ok := parseNumber(n.value)
	switch {
	case !ok:
		n.bad("must be a number such as 2000 or 400k, not %s", n.kind())
	case !(v >= least && v <= most):
		n.bad("must be between %s and %s, not %s", plain(least), plain(most), plain(v))
	default:
		return v
	}
	return fallback
}

func parseNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case int64:
		return float64(v), true
	case string:
		factor := 1.0
		if v != "" {
			if f, ok := suffixes[v[len(v)-1]]; ok {
				factor, v = f, v[:len(v)-1]
			}
		}
		if strings.ContainsAny(v, "xXpP_iInN") {
			return 0, false
		}
		f, err := strconv.ParseFloat(v, 64)
		return f * factor, err == nil
	}
	return 0, false
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// whole reads a number without a fraction.
func (n node) whole(fallback, least, most int64) int64 {
	v := n.number(float64(fallback), float64(least), float64(most))
	if v != math.Trunc(v) {
		n.bad("must be a whole number, not %s", plain(v))
		return fallback
	}
	return int64(v)
}

// percent reads 0 to 100, with or without the sign, as 0 to 1.
func (n node) percent(fallback float64) float64 {
	if s, ok := n.value.(string); ok {
		bare, signed := strings.CutSuffix(s, "%")
		if !signed {
			n.bad("must be a percentage such as 50%%, not %s", n.kind())
			return fallback
		}
		n.value = bare
	}
	return n.number(fallback*100, 0, 100) / 100
}
