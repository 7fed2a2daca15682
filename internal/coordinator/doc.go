// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package coordinator is the server side of the stream between gateways and manager: it takes reports, and
// hands out plans and shares.
//
// Invariants: a stream's identity is that of its token, which is bound to a pod, and never what a message
// says; reports count for the pod's own namespace and for policies in its plan only; a pod has one stream;
// what gateways may act on together never exceeds a limit, but by what is stated with the share (see
// divide); only the leader takes reports, others answer with its address; streams, messages, reports and
// waits are bounded; who has no token that is verified keeps no gateway out, whatever is done on how many connections.
//
// It imports wire, connections, plan, figures, status (for a type), divide, Connect, the API machinery of TokenReview and
// Prometheus, and neither the controllers nor the gateway.
package coordinator
