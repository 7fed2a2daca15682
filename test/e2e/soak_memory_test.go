// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// soakMemory watches the resident memory of the processes that should not grow: the gateway that is never killed,
// and each manager as long as it lives.
type soakMemory struct {
	s   *soak
	mu  sync.Mutex
	pid map[string]int // by container
	of  map[string][]resident
}

// resident is what a process had at a time.
type resident struct {
	at time.Time
	mb float64
}

func newSoakMemory(s *soak) *soakMemory {
	return &soakMemory{s: s, pid: map[string]int{}, of: map[string][]resident{}}
}

func (m *soakMemory) run(ctx context.Context) {
	every(ctx, 2*time.Second, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, slow)
		defer cancel()
		if pod, err := m.s.u.pod(ctx, "steady"); err == nil {
			for _, c := range pod.Status.InitContainerStatuses {
				m.sample("gateway of steady", c)
			}
		}
		all, _ := managers(ctx) // asked again in two seconds
		for i := range all {
			for _, c := range all[i].Status.ContainerStatuses {
				m.sample("manager "+all[i].Name, c)
			}
		}
	})
}

func (m *soakMemory) sample(name string, c corev1.ContainerStatus) {
	_, id, _ := strings.Cut(c.ContainerID, "://")
	if c.State.Running == nil || id == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	pid, known := m.pid[id]
	if !known {
		if pid = processOf(id); pid == 0 {
			return
		}
		m.pid[id] = pid
	}
	if mb, ok := residentOf(pid); ok {
		m.of[name] = append(m.of[name], resident{time.Now(), mb})
	}
}

// processOf finds a process of a container by its cgroup, 0 if there is none.
func processOf(id string) int {
	files, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, file := range files {
		groups, err := os.ReadFile(file) //nolint:gosec // /proc
		if err != nil || !strings.Contains(string(groups), id) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		return pid
	}
	return 0
}

func residentOf(pid int) (mb float64, ok bool) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	fields := strings.Fields(string(raw))
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()) / 1e6, err == nil && pages > 0
}

// trend is how memory went after a warm-up of a quarter: the slope of the straight line that fits best, and the
// medians of the quarter after it and of the last.
type trend struct {
	name              string
	length            time.Duration
	perHour           float64
	early, late, most float64
}

func trendOf(name string, all []resident) trend {
	out := trend{name: name}
	if len(all) < 8 {
		return out
	}
	out.length = all[len(all)-1].at.Sub(all[0].at)
	quarter := len(all) / 4
	out.early, out.late = median(all[quarter:2*quarter]), median(all[len(all)-quarter:])
	var n, sumX, sumY, sumXX, sumXY float64
	for _, r := range all {
		out.most = max(out.most, r.mb)
	}
	for _, r := range all[quarter:] {
		x := r.at.Sub(all[0].at).Hours()
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+r.mb, sumXX+x*x, sumXY+x*r.mb
	}
	if d := n*sumXX - sumX*sumX; d > 0 {
		out.perHour = (n*sumXY - sumX*sumY) / d
	}
	return out
}

func median(all []resident) float64 {
	v := make([]float64, len(all))
	for i := range all {
		v[i] = all[i].mb
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// trends are those of processes that lived for long enough to say something.
func (m *soakMemory) trends(least time.Duration) []trend {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []trend
	for name, all := range m.of {
		if t := trendOf(name, all); t.length >= least {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b trend) int { return strings.Compare(a.name, b.name) })
	return out
}
