// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// row is what was measured of one number of gateways.
type row struct {
	gateways int
	// joined is how long it took to make their pods and tokens and to grant each something.
	joined time.Duration
	// cpu and own are in cores: the manager's, and this process's; granting is the manager's part for batches.
	cpu, own, granting float64
	memory             float64
	// up and down are bytes a second of each gateway.
	up, down float64
	draws    float64
	grants   int
	// median and p99 are from a draw to its answer.
	median, p99 time.Duration
	edited      time.Duration
	// statuses and states are writes an hour.
	statuses, states float64
	// spent is what was used a second, rate what the account allows.
	spent, rate float64
}

var columns = []string{
	"gateways", "join", "manager CPU", "of it granting", "manager memory", "up, down", "draws", "grant p50", "p99", "edit acknowledged",
	"status writes", "state writes", "used", "rig's CPU",
}

func header() string {
	return "| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", len(columns)) + "\n"
}

// String is a row of a table.
func (r row) String() string {
	cells := []string{
		fmt.Sprint(r.gateways), r.joined.Round(100 * time.Millisecond).String(),
		fmt.Sprintf("%.2f cores", r.cpu), fmt.Sprintf("%.2f cores", r.granting), fmt.Sprintf("%.0f MiB", r.memory/(1<<20)),
		fmt.Sprintf("%.0f, %.0f B/s", r.up, r.down), fmt.Sprintf("%.0f/s", r.draws),
		r.median.Round(time.Millisecond).String(), r.p99.Round(time.Millisecond).String(), r.edited.Round(10 * time.Millisecond).String(),
		fmt.Sprintf("%.0f/h", r.statuses), fmt.Sprintf("%.0f/h", r.states), fmt.Sprintf("%.1f %%", 100*r.spent/r.rate),
		fmt.Sprintf("%.2f cores", r.own),
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// get reads a path of the API server.
func get(ctx context.Context, config *rest.Config, path string) (string, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	return string(body), err
}
