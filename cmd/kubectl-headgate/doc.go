// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-headgate is a plugin of kubectl: with it on the PATH, "kubectl headgate" says what a provider's
// response means and what a policy does. It reads what it is given and calls nobody.
//
// Exit status: 0 where the answer was given, 1 where the input could not be read or a policy is invalid, 2 where the
// command line makes no sense.
package main
