// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"regexp"
	"strings"
)

var (
	baselineLine = regexp.MustCompile(`(?m)^baseline: .*\n`)
	// ofBaselines are expectations of what the baselines do.
	ofBaselines = regexp.MustCompile(`(?m)^  baselines\..*\n`)
)

// withoutBaselines is the scenario with Headgate alone.
func (s scenario) withoutBaselines() scenario {
	s.workload = ofBaselines.ReplaceAll(baselineLine.ReplaceAll(s.workload, nil), nil)
	return s
}

// otherSeeds are more where a run is cheap: an hour is played once more, minutes three times.
func (s scenario) otherSeeds() []uint64 {
	if strings.Contains(string(s.workload), "duration: 60m") {
		return []uint64{2}
	}
	return []uint64{2, 3, 4}
}
