// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// limitLine says under which names a budget is reported.
type limitLine struct {
	budget Budget
	// daily lines report the day's limit, others the one of the shortest window.
	daily bool
	// The header is prefix-Limit-suffix, and so on; prefix is X-Ratelimit if empty.
	prefix, suffix string
}

const day = 24 * time.Hour

// perDay are the requests a day of those who limit that too: more than the minute's limit lets through, so that
// an account that is drained waits for the minute, not for the day.
const perDay = 14_400_000

// report makes a writer of limit headers from a table. Without a form of reset there are no resets.
func report(reset func(level) string, lines ...limitLine) func(http.Header, *call, []level) {
	return func(h http.Header, c *call, budgets []level) {
		for _, line := range lines {
			b, ok := line.of(budgets)
			if !ok {
				continue
			}
			h.Set(line.header("Limit"), integer(b.Amount))
			h.Set(line.header("Remaining"), c.remaining(b))
			if reset != nil {
				h.Set(line.header("Reset"), reset(b))
			}
		}
	}
}

func (line limitLine) header(what string) string {
	name := "X-Ratelimit-" + what
	if line.prefix != "" {
		name = line.prefix + "-" + what
	}
	if line.suffix != "" {
		name += "-" + line.suffix
	}
	return name
}

// of finds the budget that the line reports.
func (line limitLine) of(budgets []level) (level, bool) {
	for _, b := range budgets {
		if b.Budget == line.budget && (b.Window >= day) == line.daily {
			return b, true
		}
	}
	return level{}, false
}

// Forms of a reset, which is the time to a full bucket: as Go writes durations, in whole and in broken seconds.
func resetDuration(b level) string {
	return (time.Duration(ceilTo(b.untilFull, time.Millisecond)) * time.Millisecond).String()
}

func resetSeconds(b level) string { return strconv.FormatInt(ceilTo(b.untilFull, time.Second), 10) }

func resetFraction(b level) string { return fmt.Sprintf("%.6f", b.untilFull.Seconds()) }

// openAINames are the lines that several providers took over as they are.
var openAINames = []limitLine{{budget: Requests, suffix: "Requests"}, {budget: Tokens, suffix: "Tokens"}}

// seconds is a wait in whole seconds, rounded up, and at least one.
func (t throttled) seconds() int64 { return max(1, ceilTo(t.wait, time.Second)) }

// guided: the refusal may say how long to wait.
func (c *call) guided(t throttled) bool {
	return !t.never && c.fault == nil && c.s.opts.Profiles[c.dialect].Guidance != GuidanceNone
}
