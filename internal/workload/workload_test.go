// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func owned(kind, name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", Labels: labels, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, Controller: ptr.To(true)}},
	}}
}

func TestOwnersAreWhatKubectlRestarts(t *testing.T) {
	hash := map[string]string{"pod-template-hash": "6d9f4c7b5"}
	for name, tc := range map[string]struct {
		pod   *corev1.Pod
		owner string
		job   bool
	}{
		"deployment":         {owned("ReplicaSet", "support-6d9f4c7b5", hash), "deployment/support", false},
		"bare replica set":   {owned("ReplicaSet", "support", nil), "", false},
		"stateful set":       {owned("StatefulSet", "ingest", nil), "statefulset/ingest", false},
		"daemon set":         {owned("DaemonSet", "agent", nil), "daemonset/agent", false},
		"cron job":           {owned("Job", "nightly-29384756", nil), "cronjob/nightly", true},
		"job":                {owned("Job", "import", nil), "job/import", true},
		"job of a day":       {owned("Job", "import-20261130", nil), "job/import-20261130", true},
		"something of yours": {owned("Rollout", "web", nil), "", false},
		"nobody":             {&corev1.Pod{}, "", false},
	} {
		if owner, job := Of(tc.pod); owner != tc.owner || job != tc.job {
			t.Errorf("%s: got %q %v", name, owner, job)
		}
	}
}
