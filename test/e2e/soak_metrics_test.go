// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// used adds up what all gateways charged to each limit.
func (s *soak) used(t *testing.T) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	err := s.eachGateway(t.Context(), func(m metricsText) {
		for name, label := range map[string]string{
			"anthropic/requests": s.account + ":requests", "anthropic/input-tokens": s.account + ":input-tokens", "openai/tokens": "tokens",
		} {
			out[name] += m.sum("headgate_limit_used_total", `limit="`+label+`"`)
		}
	})
	if err != nil {
		s.violate("used: %v", err)
	}
	return out
}

// pages are the metrics of all gateways, one after another.
func (s *soak) pages(t *testing.T) (out []metricsText) {
	t.Helper()
	if err := s.eachGateway(t.Context(), func(m metricsText) { out = append(out, m) }); err != nil {
		s.violate("%v", err)
	}
	return out
}

// changed says what the gateways counted since, of what may explain a difference.
func (s *soak) changed(t *testing.T, before []metricsText) string {
	t.Helper()
	var out []string
	for i, now := range s.pages(t) {
		for row, v := range now {
			name, _, _ := strings.Cut(row, "{")
			switch name {
			case "headgate_limit_used_total", "headgate_tokens_total", "headgate_estimated_settlements_total", "headgate_upstream_sends_total",
				"headgate_truncated_streams_total", "headgate_calls_total":
				if d := v - before[min(i, len(before)-1)][row]; d != 0 {
					out = append(out, fmt.Sprintf("gateway %d: %s +%v", i, row, d))
				}
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// metricsText is a page of metrics: values by name and labels.
type metricsText map[string]float64

func (m metricsText) sum(name string, labels ...string) (total float64) {
rows:
	for row, v := range m {
		if got, _, _ := strings.Cut(row, "{"); got != name {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(row, label) {
				continue rows
			}
		}
		total += v
	}
	return total
}

func readMetrics(ctx context.Context, url string) (metricsText, error) {
	text, err := fetch(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	out := metricsText{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || line[0] == '#' {
			continue
		}
		if v, err := strconv.ParseFloat(line[i+1:], 64); err == nil {
			out[line[:i]] = v
		}
	}
	return out, nil
}

// eachGateway reads the metrics of every pod's gateway.
func (s *soak) eachGateway(ctx context.Context, take func(metricsText)) error {
	all, err := s.livePods(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		m, err := readMetrics(ctx, "http://"+all[i].Status.PodIP+":15081/metrics")
		if err != nil {
			return err
		}
		take(m)
	}
	return nil
}

// leaderMetrics reads those of the manager that leads, of the tenant's namespace and account only.
func (s *soak) leaderMetrics(ctx context.Context) (metricsText, error) {
	name, err := leaderPod(ctx)
	if err != nil {
		return nil, err
	}
	var pod corev1.Pod
	if err := api.Get(ctx, types.NamespacedName{Namespace: systemNamespace, Name: name}, &pod); err != nil {
		return nil, err
	}
	m, err := readMetrics(ctx, "http://"+pod.Status.PodIP+":8080/metrics")
	for row := range m {
		if !strings.Contains(row, `="`+s.u.name+`"`) {
			delete(m, row)
		}
	}
	return m, err
}
