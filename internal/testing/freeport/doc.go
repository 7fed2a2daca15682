// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package freeport finds ports for processes that have to be told where to listen, and for servers that listen at the same
// address again after they were killed.
//
// Invariants: no port is one that the system gives to connections and to listeners that ask for any: those of other tests
// would take it before the process is there, or while its server is down. No port is given twice, and a Redis Cluster's
// second port, 10,000 above, is free as well.
//
// It is for tests only; it imports the standard library only.
package freeport
