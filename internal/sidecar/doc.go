// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sidecar is the contract between the pod that injection makes and the gateway that runs in it:
// names, paths, ports, flags and annotations. A change to any of them raises ContractVersion.
//
// It imports the standard library only, since the gateway must link no Kubernetes code.
package sidecar
