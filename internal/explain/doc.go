// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package explain says what a provider's response means, and what a policy does, to programs and to people. It
// calls the same readers as the gateway: what it says of a response is what a gateway would have read there.
//
// Invariants: whatever is pasted, it ends in an answer or in an error that says what to do; what it reads is
// bounded; no text it makes holds a header's value that it does not know, a cookie or anything that looks like a
// key.
//
// It imports the standard library, the dialects, internal/policy and what that imports; nothing that runs imports
// it but the kubectl plugin.
package explain
