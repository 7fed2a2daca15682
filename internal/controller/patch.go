// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// statusPatch replaces the status if the object, its spec and its last status are those that it was made from; writtenAt
// is when the last one was written. The version of the object is no part of that where it can be done without: labels and
// annotations that others touch all the time would refuse a status for nothing.
func statusPatch(before client.Object, writtenAt *metav1.Time, status any) (client.Patch, error) {
	if writtenAt.IsZero() {
		return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), nil
	}
	body, err := json.Marshal([]operation{
		{"test", "/metadata/uid", before.GetUID()},
		{"test", "/metadata/generation", before.GetGeneration()},
		{"test", "/status/summary/figuresAt", writtenAt},
		{"add", "/status", status},
	})
	return client.RawPatch(types.JSONPatchType, body), err
}

// isConflict says whether a write was refused for what others wrote since: by the version, or by a test, which the API
// server calls invalid without saying of what.
func isConflict(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	status, ok := err.(apierrors.APIStatus)
	return ok && apierrors.IsInvalid(err) && (status.Status().Details == nil || len(status.Status().Details.Causes) == 0)
}
