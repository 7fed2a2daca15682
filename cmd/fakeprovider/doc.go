// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fakeprovider serves a simulated LLM provider over HTTP and HTTPS, with HTTP/2 on both: see
// package internal/testing/fakeprovider. It is for demos, tests and benchmarks; it must import nothing of
// Headgate but that package.
package main
