// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package exits

import (
	"regexp"
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

type page []series

var (
	lineShape  = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)
	labelShape = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

func read(g *dataplane.Gateway) (out page) {
	_, text := g.Get(g.Admin + "/metrics")
	for line := range strings.Lines(text) {
		m := lineShape.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		s := series{name: m[1], labels: map[string]string{}}
		s.value, _ = strconv.ParseFloat(m[3], 64)
		for _, l := range labelShape.FindAllStringSubmatch(m[2], -1) {
			s.labels[l[1]] = l[2]
		}
		out = append(out, s)
	}
	return out
}

// sum adds the series of a name whose labels have the given values.
func (p page) sum(name string, labels ...string) (total float64) {
	for _, s := range p {
		matches := s.name == name
		for i := 0; i < len(labels); i += 2 {
			matches = matches && s.labels[labels[i]] == labels[i+1]
		}
		if matches {
			total += s.value
		}
	}
	return total
}
