// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulate says what a policy would do to a workload before it is applied: it plays the workload through the
// production engine on simulated time, and beside it through what an app does without Headgate.
//
// Invariants: the same policy, workload and seed give the same result, to the last byte; a policy that the webhook
// would refuse is refused here in the same words; every error names the field.
//
// It puts together internal/policy, and the packages below it: workload, world, referee, gateway, fleet, baseline and
// result. It calls nobody and reads no clock.
package simulate
