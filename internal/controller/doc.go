// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller keeps what the API server holds in step with the policies: the plan each namespace's
// gateways read, the variables their pods use, and the status people read.
//
// There is one reconciler, keyed by namespace, because a plan is a namespace's. It observes (policies, pods
// and our own objects, from caches), decides (internal/policy and internal/status, both pure), acts
// (server-side apply by one field owner) and writes each policy's status at most once. What gateways report
// never enqueues a reconcile: a ticker on the leader refreshes statuses from what the last reconcile
// decided, and writes only what status.Due allows.
//
// Invariants: a plan's revision only grows, also over the deletion of its ConfigMap; unchanged content is
// not written; a status is written against the version it was made from, so it can neither overwrite a
// newer leader's nor speak of a spec it has not seen; there are no finalizers, so deleting a namespace
// never waits for us; while the API server drops fields that this version reads, no edit is put in force.
//
// It must not import the gateway, the webhooks or the coordinator: what it needs of the latter are the
// interfaces Plans and Reports.
package controller
