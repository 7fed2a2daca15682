// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// CacheOptions are the manager's cache: pods stripped, and of all ConfigMaps only the plans, by name, which
// is also all that the manager's role allows.
func CacheOptions() cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:       {Transform: StripPod},
			&corev1.Namespace{}: {Transform: stripNamespace},
			&corev1.ConfigMap{}: {Field: named(sidecar.PlanConfigMap)},
		},
	}
}

// ClientOptions are the manager's client: it reads its own writes, so that a reconcile right after a write
// does not write again what it cannot see yet.
func ClientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}}
}

// NewEnvCache is a cache of the ConfigMaps of base-URL variables. A field selector names one object, and
// the manager's own cache of ConfigMaps already names another.
func NewEnvCache(config *rest.Config, options cache.Options) (cache.Cache, error) {
	options.DefaultTransform = cache.TransformStripManagedFields()
	options.ByObject = map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Field: named(sidecar.EnvConfigMap)},
	}
	return cache.New(config, options)
}

// stripNamespace keeps labels and whether the namespace is going.
func stripNamespace(obj any) (any, error) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		ns.ManagedFields, ns.Annotations = nil, nil
	}
	return obj, nil
}

func named(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
