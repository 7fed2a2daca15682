// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keys are keys of a ConfigMap, those of texts and those of bytes.
type keys struct {
	Data       set `json:"f:data"`
	BinaryData set `json:"f:binaryData"`
}

// set holds fields by their names.
type set map[string]json.RawMessage

// fieldOf is how an object's managed fields name a key.
func fieldOf(key string) string { return "f:" + key }

// hasOther reports whether there is a key that today's data has not. Most objects have none.
func hasOther(cm *corev1.ConfigMap, own func(key string) bool) bool {
	for key := range cm.Data {
		if !own(key) {
			return true
		}
	}
	return len(cm.BinaryData) > 0
}

// theirs reports whether others keep something in an object: a key that is not one of today's, and that is not, as the API server
// wrote it down, this package's alone. What an older version wrote is ours; what nobody is known to have written is not.
func theirs(cm *corev1.ConfigMap, own func(key string) bool) bool {
	ours, others := writers(cm.ManagedFields)
	for key := range cm.Data {
		if !own(key) && !alone(ours.Data, others.Data, key) {
			return true
		}
	}
	for key := range cm.BinaryData {
		if !alone(ours.BinaryData, others.BinaryData, key) {
			return true
		}
	}
	return false
}

func alone(ours, others set, key string) bool {
	_, is := ours[fieldOf(key)]
	_, shared := others[fieldOf(key)]
	return is && !shared
}

// writers are the keys that this package wrote, by whatever operation, and those that anybody else did. Where that cannot be
// read, nobody is known to have written any.
func writers(fields []metav1.ManagedFieldsEntry) (ours, others keys) {
	ours, others = keys{Data: set{}, BinaryData: set{}}, keys{Data: set{}, BinaryData: set{}}
	for i := range fields {
		if fields[i].FieldsV1 == nil {
			continue
		}
		var wrote keys
		if err := json.Unmarshal(fields[i].FieldsV1.GetRawBytes(), &wrote); err != nil {
			return keys{}, keys{}
		}
		into := others
		if fields[i].Manager == FieldOwner {
			into = ours
		}
		maps.Copy(into.Data, wrote.Data)
		maps.Copy(into.BinaryData, wrote.BinaryData)
	}
	return ours, others
}

// holdsTheirs reports whether others keep something in an object that a cache holds, and returns the object as it is by now, nil
// if it is gone. Caches do not hold who wrote what, so where it matters, and nowhere else, the API server is asked.
func (r *Reconciler) holdsTheirs(ctx context.Context, cached *corev1.ConfigMap, own func(key string) bool) (now *corev1.ConfigMap, held bool, err error) {
	if !hasOther(cached, own) {
		return cached, false, nil
	}
	now, err = configMap(ctx, r.Live, cached.Namespace, cached.Name)
	if err != nil || now == nil {
		return nil, false, err
	}
	return now, theirs(now, own), nil
}
