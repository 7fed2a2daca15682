// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"os/exec"
	"strings"
	"testing"
)

// StartCluster returns the nodes of a cluster that serves: three primaries.
func StartCluster(t *testing.T) []*Server {
	t.Helper()
	var nodes []*Server
	args := []string{"--no-auth-warning", "-a", Password, "--cluster", "create"}
	for range 3 {
		n := Start(t, "--cluster-enabled", "yes", "--masterauth", Password)
		nodes = append(nodes, n)
		args = append(args, n.Address)
	}
	if out, err := exec.Command("redis-cli", append(args, "--cluster-yes")...).CombinedOutput(); err != nil {
		t.Fatalf("redis-cli makes no cluster: %v\n%s", err, out)
	}
	for _, n := range nodes {
		n.Eventually("the cluster serves", func() bool {
			return strings.Contains(strings.Join(n.Do("CLUSTER INFO"), ""), "cluster_state:ok")
		})
	}
	return nodes
}

// ClusterURL names the nodes, as a store's URL does.
func ClusterURL(nodes []*Server) string {
	var hosts []string
	for _, n := range nodes {
		hosts = append(hosts, n.Address)
	}
	return "redis://" + strings.Join(hosts, ",") + "?cluster=true"
}
