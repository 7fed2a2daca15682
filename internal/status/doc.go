// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status turns what is known of a policy (its compiled form, the pods it is meant for, what their
// gateways report) into the status people read, and into the events that tell them of a change.
//
// Invariants: it is pure and takes now; the five conditions are always all present, in a fixed order, each
// with observedGeneration, and lastTransitionTime moves only with the condition's status; every list and
// string is bounded, and the whole stays below MaxBytes; figures are rounded; nothing of another tenant,
// no key and no prompt can enter, since none is among the inputs. Due says when a new status is worth a
// write, so that etcd is not the place for live figures.
//
// It must not import client-go, controller-runtime, the gateway or the coordinator: status is decided here
// and written by internal/controller.
package status
