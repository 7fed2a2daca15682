// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rbac holds the manifests of Headgate's rights, and the tests that keep them as small as they
// are. It has no code: a manifest that changes what an identity may do changes a golden file with it.
package rbac
