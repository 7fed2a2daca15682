// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the types of API group headgate.dev: fields, markers, CEL rules and the
// constants that other packages need to speak of them (conditions, reasons, labels). It holds no logic.
//
// It imports apimachinery only, so that any client can use the types; never controller-runtime,
// client-go or another package of this module.
//
// Conventions: amounts are integer quantities (400k), fractions are int32 percent, times are duration
// strings (30s, 500ms). Nothing a platform default may later supply has a schema default: internal/policy
// resolves defaults when it compiles, so a stored object keeps just what its author wrote.
//
// +kubebuilder:object:generate=true
// +groupName=headgate.dev
package v1alpha1
