// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package connections bounds the connections that a server has at once, on ports that anybody in a cluster may reach.
//
// Invariants: there are never more than the bound; beyond it one goes of the address that has most, of those that ask or those
// that do not, whichever are more of it, the one that has been so for longest; a connection that a handler keeps is not cut and
// not counted so. Who holds connections, whatever is done on them, keeps nobody out who comes from elsewhere.
//
// Pages is a server of metrics and health that is bounded so, and in time: whatever is sent to it, or not read of it, ends.
//
// ServeTLS ends in the time that it is given, whatever peers do or leave undone.
//
// It imports the standard library only.
package connections
