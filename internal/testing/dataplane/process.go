// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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
