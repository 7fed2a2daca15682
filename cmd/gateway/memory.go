// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	mib = 1 << 20
	// leastBodyMemory holds one body of the largest size that can be sent again, and small ones beside it.
	leastBodyMemory = 48 * mib
	// defaultBodyMemory is for a gateway without a memory limit.
	defaultBodyMemory = 256 * mib
	// runtimePercent of the container's limit is where the garbage collector begins to work harder. A burst of
	// the largest bodies outruns it by some tens of MiB, and the sockets count to the limit too.
	runtimePercent = 70
	// bodyPercent of it is for request bodies. Half of it brought a gateway under the largest bodies to within 19 MiB of its
	// limit where the collector had little of the processor.
	bodyPercent = 40
)

// bodyMemory is the budget for request bodies: what was asked for, else bodyPercent of the container's limit.
func bodyMemory(askedMiB int64) int64 {
	limit := memoryLimit()
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 100 * runtimePercent)
	}
	switch {
	case askedMiB > 0:
		return askedMiB * mib
	case limit <= 0:
		return defaultBodyMemory
	}
	return max(limit/100*bodyPercent, leastBodyMemory)
}

// memoryLimit is the container's, 0 if there is none.
func memoryLimit() int64 {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(path) //nolint:gosec // G304: one of the two paths above
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		// Version 1 writes a number near the largest one for "no limit".
		if err == nil && n > 0 && n < math.MaxInt64/2 {
			return n
		}
	}
	return 0
}
