// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Descriptors is how many files and connections the gateway has open.
func (g *Gateway) Descriptors() int {
	g.T.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.Cmd.Process.Pid))
	if err != nil {
		g.T.Fatal(err)
	}
	return len(open)
}

// ProcessorTime is what the gateway has used of the processors, which is the same on a machine that others keep busy.
func (g *Gateway) ProcessorTime() time.Duration {
	g.T.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g.Cmd.Process.Pid))
	if err != nil {
		g.T.Fatal(err)
	}
	// After the name, which may hold anything, the 12th and 13th fields are of the program and of the system.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond
	var total time.Duration
	for _, field := range []int{user, system} {
		ticks, err := strconv.Atoi(fields[field])
		if err != nil {
			g.T.Fatal(err)
		}
		total += time.Duration(ticks) * tick
	}
	return total
}

// Resident is the memory that the gateway has, in bytes.
func (g *Gateway) Resident() int64 {
	g.T.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.Cmd.Process.Pid))
	if err != nil {
		g.T.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	if err != nil {
		g.T.Fatal(err)
	}
	return kib << 10
}

// Metric is the value of one series, by its name and labels as they are written.
func (g *Gateway) Metric(series string) (value float64, found bool) {
	g.T.Helper()
	_, page := g.Get(g.Admin + "/metrics")
	_, rest, found := strings.Cut("\n"+page, "\n"+series+" ")
	text, _, _ := strings.Cut(rest, "\n")
	value, err := strconv.ParseFloat(text, 64)
	return value, found && err == nil
}
