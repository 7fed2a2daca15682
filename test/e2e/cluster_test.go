// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// The parts of the cluster that tests kill, as hack/cluster names them.
const (
	apiServer = "kube-apiserver"
	etcd      = "etcd"
	kubelet   = "kubelet"
)

// startLimit is how long a part may take until it answers on a machine that has better to do.
const startLimit = 2 * time.Minute

// killPart ends a part of the cluster as a crash would. It is started again when the test ends, if not before.
func killPart(t *testing.T, name string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		if out, err := cluster(ctx, "start", name); err != nil {
			t.Errorf("%s does not come back: %v\n%s", name, err, out)
		}
	})
	if out, err := cluster(t.Context(), "kill", name); err != nil {
		t.Fatalf("kill %s: %v\n%s", name, err, out)
	}
}

// startPart starts a part that was killed, and returns when it answers.
func startPart(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	if out, err := cluster(ctx, "start", name); err != nil {
		t.Fatalf("start %s: %v\n%s", name, err, out)
	}
}

func cluster(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "../../hack/cluster", args...).CombinedOutput()
	return string(out), err
}
