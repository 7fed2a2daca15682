// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package console is how the command "gateway deferred" reaches the deferred calls of a gateway that runs: a Unix socket
// in the state directory, which no other container of the pod mounts. The admin port would not do: whoever reaches the
// pod reaches it, and a ticket's ID gives access to its answer.
//
// Invariants: the socket is its owner's alone; every request is small and answered from the queue; nothing of a request's
// or an answer's content is shown.
//
// It imports the standard library and package deferred.
package console
