// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// request is a draw as the script reads it: times are in seconds, lines are numbered from 1.
type request struct {
	Drawer      string   `json:"drawer"`
	Incarnation string   `json:"incarnation"`
	Sequence    uint64   `json:"sequence"`
	Instance    string   `json:"instance"`
	Version     uint64   `json:"version"`
	Stamp       float64  `json:"stamp"`
	Elapsed     float64  `json:"elapsed"`
	Lease       float64  `json:"lease"`
	Life        float64  `json:"life"`
	Held        float64  `json:"held"`
	Drain       float64  `json:"drain"`
	Lines       []line   `json:"lines"`
	Vectors     []vector `json:"vectors"`
	Leaving     bool     `json:"leaving"`
}

type line struct {
	Name     string  `json:"name"`
	Slots    bool    `json:"slots"`
	Rate     float64 `json:"rate"`
	Capacity float64 `json:"capacity"`
	Small    float64 `json:"small"`
	Got      float64 `json:"got"`
	Spent    float64 `json:"spent"`
	Returned float64 `json:"returned"`
	Raised   float64 `json:"raised"`
	Want     float64 `json:"want"`
	Need     float64 `json:"need"`
	Safe     float64 `json:"safe"`
	Burst    float64 `json:"burst"`
	Apart    float64 `json:"apart"`
	Claims   []claim `json:"claims"`
	Whole    bool    `json:"whole,omitempty"`
}

type claim struct {
	Class  string  `json:"class"`
	Share  float64 `json:"share"`
	Weight float64 `json:"weight"`
	Unlent float64 `json:"unlent"`
	Lack   float64 `json:"lack"`
	Need   float64 `json:"need"`
}

type vector struct {
	Class  string `json:"class"`
	Key    string `json:"key"`
	Number uint64 `json:"number"`
	Parts  []part `json:"parts"`
}

type part struct {
	Line  int     `json:"line"`
	Units float64 `json:"units"`
	Share float64 `json:"share"`
}

// errBounds is a request with more than it may have.
var errBounds = errors.New("the draw exceeds the bounds of a request")

// encode bounds a request and writes it down. No number is NaN, infinite or negative.
func encode(r *budgetstore.Request) ([]byte, error) {
	if len(r.Lines) > budgetstore.MaxLines || len(r.Vectors) > budgetstore.MaxVectors ||
		tooLong(r.Account) || tooLong(r.Drawer) || tooLong(r.Incarnation) {
		return nil, errBounds
	}
	out := request{
		Drawer: r.Drawer, Incarnation: r.Incarnation, Sequence: r.Sequence, Instance: r.Instance, Version: r.Version,
		Stamp: clean(r.Stamp), Elapsed: r.Elapsed.Seconds(), Lease: max(0, r.Lease.Seconds()), Life: r.Life.Seconds(),
		Held: r.Held.Seconds(), Drain: r.Drain.Seconds(), Leaving: r.Leaving,
		Lines: []line{}, Vectors: []vector{},
	}
	for i := range r.Lines {
		l, err := encodeLine(&r.Lines[i])
		if err != nil {
			return nil, err
		}
		for _, x := range []*float64{
			&l.Rate, &l.Capacity, &l.Small, &l.Got, &l.Spent, &l.Returned, &l.Raised, &l.Want, &l.Need, &l.Safe, &l.Burst, &l.Apart,
		} {
			*x = clean(*x)
		}
		out.Lines = append(out.Lines, l)
	}
	for _, v := range r.Vectors {
		if len(v.Class) > budgetstore.MaxName || len(v.Key) > 2*budgetstore.MaxName {
			return nil, errBounds
		}
		w := vector{Class: v.Class, Key: v.Key, Number: v.Number, Parts: []part{}}
		for _, p := range v.Parts {
			if p.Line < 0 || p.Line >= len(r.Lines) {
				return nil, errBounds
			}
			w.Parts = append(w.Parts, part{p.Line + 1, clean(p.Units), clean(p.Share)})
		}
		out.Vectors = append(out.Vectors, w)
	}
	return json.Marshal(out)
}

// encodeLine writes a line down; what is counted is cleaned by encode.
func encodeLine(l *budgetstore.Line) (line, error) {
	if tooLong(l.Name) || len(l.Claims) > budgetstore.MaxClaims {
		return line{}, errBounds
	}
	out := line{
		Name: l.Name, Slots: l.Slots, Rate: l.Rate, Capacity: l.Capacity, Small: l.Small, Got: l.Got, Spent: l.Spent,
		Returned: l.Returned, Raised: l.Raised, Want: l.Want, Need: l.Need, Safe: l.Safe, Burst: l.Burst, Apart: l.Apart,
		Claims: []claim{}, Whole: l.Whole,
	}
	for _, c := range l.Claims {
		if len(c.Class) > budgetstore.MaxName {
			return line{}, errBounds
		}
		out.Claims = append(out.Claims, claim{
			c.Class, clean(c.Share), clean(c.Weight), clean(c.Unlent), clean(c.Lack), clean(c.Need),
		})
	}
	return out, nil
}

func tooLong(name string) bool { return name == "" || len(name) > budgetstore.MaxName }

// largest keeps sums far from infinity.
const largest = 1e18

// clean makes a number harmless: what means nothing is 0.
func clean(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return min(x, largest)
}

// errAnswer is an answer that no version of the script gives.
var errAnswer = errors.New("the answer of the budget store is not understood")

// decode reads the script's answer. Further fields and lines are a newer version's.
func decode(reply any, lines int) (*budgetstore.Answer, error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) < fields+lines {
		return nil, errAnswer
	}
	text := make([]string, len(parts))
	for i, p := range parts {
		if text[i], ok = p.(string); !ok {
			return nil, errAnswer
		}
	}
	a := &budgetstore.Answer{Instance: text[1], Recall: text[5] == "1", Lines: make([]budgetstore.Granted, lines)}
	var errs []error
	a.Stamp = number(text[0], &errs)
	a.Version, a.Drawers = count(text[2], &errs), int(count(text[3], &errs))
	for _, n := range first(strings.Fields(text[4]), budgetstore.MaxVectors) {
		a.Bulks = append(a.Bulks, count(n, &errs))
	}
	for i := range a.Lines {
		values := strings.Fields(text[fields+i])
		g := &a.Lines[i]
		known := []*float64{&g.Total, &g.Share, &g.Fair, &g.Level, &g.Outstanding, &g.Keep}
		if len(values) < len(known) {
			return nil, errAnswer
		}
		for j, x := range known {
			*x = number(values[j], &errs)
		}
		for rest := first(values[len(known):], 2*budgetstore.MaxClaims); len(rest) > 1; rest = rest[2:] {
			g.Claims = append(g.Claims, budgetstore.GrantedClaim{Fair: number(rest[0], &errs), New: number(rest[1], &errs)})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return a, nil
}

// fields are those of an answer before its lines.
const fields = 6

// first are at most so many: no more were asked for.
func first(all []string, n int) []string { return all[:min(len(all), n)] }

// count reads a whole number, as far as a script counts exactly.
func count(s string, errs *[]error) uint64 {
	const exact = 1 << 53
	x := number(s, errs)
	if x < 0 || x > exact {
		*errs = append(*errs, fmt.Errorf("%w: a count is none", errAnswer))
		return 0
	}
	return uint64(x)
}

func number(s string, errs *[]error) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		*errs = append(*errs, fmt.Errorf("%w: a number is missing", errAnswer))
		return 0
	}
	return x
}
