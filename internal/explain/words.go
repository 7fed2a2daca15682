// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strconv"
	"strings"
	"time"
)

// duration writes a duration as people do: 1.243s, 6m, 1h5m, 3d.
func duration(d time.Duration) string {
	if d >= 2*day {
		d = d.Round(time.Hour)
		if hours := d % day / time.Hour; hours > 0 {
			return short(d/day, "d") + short(hours, "h")
		}
		return short(d/day, "d")
	}
	switch {
	case d >= time.Hour:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Millisecond)
	}
	text := d.String()
	text = strings.Replace(text, "m0s", "m", 1)
	return strings.Replace(text, "h0m", "h", 1)
}

func short(n time.Duration, unit string) string { return strconv.FormatInt(int64(n), 10) + unit }
