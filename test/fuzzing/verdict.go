// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"regexp"
	"strconv"
	"strings"
)

// verdict is what a run of a target came to.
type verdict int

const (
	nothing verdict = iota // nothing was found
	timeUp                 // the engine's time was over within an input: nothing was found
	found                  // something was found
)

var (
	certain  = regexp.MustCompile(`Failing input written|panic|DATA RACE|hung or terminated`)
	boundary = regexp.MustCompile(`^\s*--- FAIL: |^(FAIL|exit status [0-9]+)?$|^\s*$`)
)

// judge says what a run ended with. The engine of the go command at times takes the end of its own time for a failure of the
// target ("context deadline exceeded", and no input written): that is no finding. Every other status than 0 is one.
func judge(status int, log string) verdict {
	if status == 0 {
		return nothing
	}
	if status == 1 && !certain.MatchString(log) && onlyTheEndOfTime(log) {
		return timeUp
	}
	return found
}

// onlyTheEndOfTime says that all that a log complains of is the end of the time.
func onlyTheEndOfTime(log string) bool {
	complaints := 0
	failed := false
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		failed = failed || strings.HasPrefix(strings.TrimLeft(line, " "), "--- FAIL")
		if !failed || boundary.MatchString(line) {
			continue
		}
		if strings.TrimSpace(line) != "context deadline exceeded" {
			return false
		}
		complaints++
	}
	return complaints > 0
}

// figures are what the engine says of a run.
type figures struct {
	// executions are all, those of the corpus among them; corpus is how many inputs it began with, added how many it found.
	executions, corpus, added int
}

// beyond is how many inputs were tried that no run before had kept.
func (f figures) beyond() int { return max(f.executions-f.corpus, 0) }

var progress = regexp.MustCompile(`(?m)^fuzz: elapsed: \S+, execs: (\d+) \(\d+/sec\), new interesting: (\d+) \(total: (\d+)\)`)

// read takes the figures of the last line that has them: none as long as the corpus was being tried.
func read(log string) figures {
	lines := progress.FindAllStringSubmatch(log, -1)
	if len(lines) == 0 {
		return figures{}
	}
	number := func(i int) int { n, _ := strconv.Atoi(lines[len(lines)-1][i]); return n }
	return figures{executions: number(1), corpus: number(3) - number(2), added: number(2)}
}

var written = regexp.MustCompile(`Failing input written to testdata/fuzz/(\S+)`)

// input returns the name that go test has for the input that was written, as FuzzX/0123, or nothing.
func input(log string) string {
	if m := written.FindStringSubmatch(log); m != nil {
		return m[1]
	}
	return ""
}
