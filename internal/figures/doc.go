// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package figures turns the cumulative reports of many gateways into what people read of a policy: amounts
// over the last minutes, sums of levels, queues and waits.
//
// Invariants: counters only ever grow by what an incarnation reports above its own maximum, so a lost, late,
// repeated or reordered report does no harm; a restarted gateway is a new incarnation and never counts
// backwards; a number that no gateway can mean (NaN, infinite, negative, beyond 2^53) is never added up;
// memory is bounded per gateway by the bounds of a report and per namespace by the number of gateways.
//
// It is pure but for one lock, that of the Store, which owns everything in it. It takes now as an argument,
// and imports wire and the standard library only: neither Kubernetes, nor plan, nor metrics.
package figures
