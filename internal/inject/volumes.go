// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

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

// sameSource says whether a volume holds what ours of its name does; the API server has added defaults to it.
func sameSource(ours, v *corev1.Volume) bool {
	switch o := &ours.VolumeSource; {
	case o.ConfigMap != nil:
		return v.ConfigMap != nil && v.ConfigMap.Name == o.ConfigMap.Name && ptr.Deref(v.ConfigMap.Optional, false) && len(v.ConfigMap.Items) == 0
	case o.Secret != nil:
		return v.Secret != nil && v.Secret.SecretName == o.Secret.SecretName && ptr.Deref(v.Secret.Optional, false) && len(v.Secret.Items) == 0
	case o.Projected != nil:
		return v.Projected != nil && equality.Semantic.DeepEqual(v.Projected.Sources, o.Projected.Sources)
	case o.DownwardAPI != nil:
		return v.DownwardAPI != nil && equality.Semantic.DeepEqual(v.DownwardAPI.Items, o.DownwardAPI.Items)
	}
	return v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumDefault && equality.Semantic.DeepEqual(v.EmptyDir.SizeLimit, ours.EmptyDir.SizeLimit)
}
