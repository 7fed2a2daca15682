// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ofCronJob matches the scheduled time that a CronJob puts at the end of its Jobs' names: minutes since 1970.
var ofCronJob = regexp.MustCompile(`^(.+)-([0-9]{8,10})$`)

// firstMinute is of the year 2020. What is less is a date that somebody gave a Job of his own, as in import-20261130.
const firstMinute = 26_297_280

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
		if m := ofCronJob.FindStringSubmatch(owner.Name); m != nil {
			if minute, err := strconv.ParseInt(m[2], 10, 64); err == nil && minute >= firstMinute {
				return "cronjob/" + m[1], true
			}
		}
		return "job/" + owner.Name, true
	}
	return "", false
}
