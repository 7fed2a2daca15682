// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// tokenSeconds is the life of the projected token; the kubelet renews it well before.
const tokenSeconds int64 = 3600

// stateLimit bounds the state directory: the gateway's own few files, and request bodies that it keeps
// on disk rather than in memory.
const stateLimit = "512Mi"

// volumes are mounted from the first day, since a pod's are frozen once it is made. What may be missing
// is optional: an absent object must never keep a pod from starting.
func volumes() []corev1.Volume {
	optional, seconds, limit := true, tokenSeconds, resource.MustParse(stateLimit)
	return []corev1.Volume{
		{Name: sidecar.VolumePlan, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: sidecar.PlanConfigMap}, Optional: &optional,
		}}},
		{Name: sidecar.VolumeCredentials, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: sidecar.CredentialsSecret, Optional: &optional,
		}}},
		{Name: sidecar.VolumeToken, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: sidecar.TokenAudience, ExpirationSeconds: &seconds, Path: "token",
			}}},
		}}},
		{Name: sidecar.VolumePodInfo, VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{
				Path:     "labels",
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.labels"},
			}},
		}}},
		{Name: sidecar.VolumeState, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit},
		}},
	}
}

// mounts are whole directories, never subPath, which would freeze their contents.
func mounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{
		{Name: sidecar.VolumePlan, MountPath: sidecar.DirPlan, ReadOnly: true},
		{Name: sidecar.VolumeCredentials, MountPath: sidecar.DirCredentials, ReadOnly: true},
		{Name: sidecar.VolumeToken, MountPath: sidecar.DirToken, ReadOnly: true},
		{Name: sidecar.VolumePodInfo, MountPath: sidecar.DirPodInfo, ReadOnly: true},
		{Name: sidecar.VolumeState, MountPath: sidecar.DirState},
	}
}

func addMissingVolumes(spec *corev1.PodSpec) {
	for _, ours := range volumes() {
		if !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == ours.Name }) {
			spec.Volumes = append(spec.Volumes, ours)
		}
	}
}
