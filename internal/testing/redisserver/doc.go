// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisserver runs a real redis-server on the loopback address for tests, which may kill, pause and restart it;
// also one with a replica and Sentinels, and a cluster of three.
//
// Invariants: the server asks for Password and keeps what it has said it has (append-only, synced with every command);
// it and its directory end with the test that started it.
//
// It is for tests only: nothing that ships may import it, and it imports no client, so that it judges none.
package redisserver
