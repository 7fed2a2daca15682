// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"regexp"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// Shape of a duration: the markers of v1alpha1.Duration.
const (
	minDurationLength = 2
	maxDurationLength = 16
)

var durationPattern = regexp.MustCompile(`^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?([0-9]{1,5}ms)?$`)

// duration is the time of a string that the schema's rules accept; an absent one means value.
func duration(d v1alpha1.Duration, value time.Duration) time.Duration {
	if d == "" {
		return value
	}
	parsed, err := time.ParseDuration(string(d))
	if err != nil {
		return value
	}
	return parsed
}
