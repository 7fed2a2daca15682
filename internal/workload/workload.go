// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ofCronJob matches the scheduled time that a CronJob puts at the end of its Jobs' names.
var ofCronJob = regexp.MustCompile(`-[0-9]{8,}$`)

// Of is TYPE/NAME of what to restart to have the pod made anew. job says that it cannot be restarted in
// place: its next run has new pods. Empty is a pod that no kubectl command restarts.
//
// A Deployment is known by its ReplicaSet's name less the template's hash, a CronJob by its Job's less the
// time.
func Of(pod *corev1.Pod) (typeAndName string, job bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return "", false
	}
	switch owner.Kind {
	case "ReplicaSet":
		hash := pod.Labels["pod-template-hash"]
		if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && hash != "" {
			return "deployment/" + name, false
		}
	case "StatefulSet", "DaemonSet":
		return strings.ToLower(owner.Kind) + "/" + owner.Name, false
	case "Job":
		if name := ofCronJob.ReplaceAllString(owner.Name, ""); name != owner.Name {
			return "cronjob/" + name, true
		}
		return "job/" + owner.Name, true
	}
	return "", false
}
