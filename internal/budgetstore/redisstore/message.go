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
	Bulks       uint64   `json:"bulks"`
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
}

type vector struct {
	Share float64 `json:"share,omitempty"`
	Parts []part  `json:"parts"`
}

type part struct {
	Line  int     `json:"line"`
	Units float64 `json:"units"`
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
		Held: r.Held.Seconds(), Drain: r.Drain.Seconds(), Bulks: r.Bulks, Leaving: r.Leaving,
		Lines: []line{}, Vectors: []vector{},
	}
	for i := range r.Lines {
		if tooLong(r.Lines[i].Name) {
			return nil, errBounds
		}
		l := line(r.Lines[i])
		for _, x := range []*float64{
			&l.Rate, &l.Capacity, &l.Small, &l.Got, &l.Spent, &l.Returned, &l.Raised, &l.Want, &l.Need, &l.Safe, &l.Burst, &l.Apart,
		} {
			*x = clean(*x)
		}
		out.Lines = append(out.Lines, l)
	}
	for _, v := range r.Vectors {
		w := vector{Share: min(clean(v.Share), 1), Parts: []part{}}
		for _, p := range v.Parts {
			if p.Line < 0 || p.Line >= len(r.Lines) {
				return nil, errBounds
			}
			w.Parts = append(w.Parts, part{p.Line + 1, clean(p.Units)})
		}
		out.Vectors = append(out.Vectors, w)
	}
	return json.Marshal(out)
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
	a.Version, a.Drawers, a.Bulks = uint64(number(text[2], &errs)), int(number(text[3], &errs)), uint64(number(text[4], &errs))
	for i := range a.Lines {
		values := strings.Fields(text[fields+i])
		if len(values) < 5 {
			return nil, errAnswer
		}
		g := &a.Lines[i]
		for j, x := range []*float64{&g.Total, &g.Share, &g.Fair, &g.Level, &g.Outstanding} {
			*x = number(values[j], &errs)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return a, nil
}

// fields are those of an answer before its lines.
const fields = 6

func number(s string, errs *[]error) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		*errs = append(*errs, fmt.Errorf("%w: a number is missing", errAnswer))
		return 0
	}
	return x
}
