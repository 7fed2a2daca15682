// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package exits

import (
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// series is one line of the metrics.
type series struct {
	name   string
	labels map[string]string
	value  float64
}

// page is the series by their names.
type page map[string][]series

func read(g *dataplane.Gateway) page {
	_, text := g.Get(g.Admin + "/metrics")
	out := page{}
	for line := range strings.Lines(text) {
		if s, ok := parse(strings.TrimSpace(line)); ok {
			out[s.name] = append(out[s.name], s)
		}
	}
	return out
}

// parse reads a line by hand: a page has thousands, and is read until what is waited for is in it.
func parse(line string) (series, bool) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || line[0] == '#' {
		return series{}, false
	}
	value, err := strconv.ParseFloat(line[at+1:], 64)
	name, rest, _ := strings.Cut(strings.TrimSuffix(line[:at], "}"), "{")
	s := series{name: name, labels: map[string]string{}, value: value}
	for rest != "" {
		var key, text string
		key, rest, _ = strings.Cut(rest, `="`)
		text, rest, _ = strings.Cut(rest, `"`)
		s.labels[key], rest = text, strings.TrimPrefix(rest, ",")
	}
	return s, err == nil
}

// sum adds the series of a name whose labels have the given values.
func (p page) sum(name string, labels ...string) (total float64) {
	for _, s := range p[name] {
		matches := true
		for i := 0; i < len(labels); i += 2 {
			matches = matches && s.labels[labels[i]] == labels[i+1]
		}
		if matches {
			total += s.value
		}
	}
	return total
}
