// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fakeprovider simulates the APIs of LLM providers, for demos, tests and benchmarks: it meters
// each API key and model group with true continuous buckets, answers in the exact shapes of today's
// OpenAI and Anthropic APIs (JSON and server-sent events, headers and error bodies), and misbehaves on
// request.
//
// A Server is an http.Handler. Scripts and assertions go through its methods, or over HTTP below
// /_fake/: arrivals, stats, level, reset, faults.
//
// Invariants:
//   - the buckets are package bucket's and nobody else's: this is the referee, so it must not import
//     internal/budget nor anything of internal/gateway;
//   - it never reads a clock but through Options.Now, and sleeps only on timers, so that it runs under
//     testing/synctest;
//   - everything is bounded: bodies, accounts, faults, arrivals, calls in flight;
//   - API keys are kept as short hashes only.
//
// How many tokens a call has is counted from its text, a token for every four bytes, unless the call says
// otherwise; see count.go.
package fakeprovider
