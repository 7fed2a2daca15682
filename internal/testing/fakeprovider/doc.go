// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fakeprovider simulates the APIs of LLM providers, for demos, tests and benchmarks: it meters
// each API key and model group with true continuous buckets, answers in the exact shapes of today's APIs
// (JSON documents and streams, headers and error bodies), and misbehaves on request.
//
// A Server is an http.Handler. Scripts and assertions go through its methods, or over HTTP below
// /_fake/: arrivals, stats, level, reset, faults.
//
// # Whose API
//
// One server is all providers. Below /_p/NAME, where NAME is a dialect in lower case, lies the API of that
// one, on the very paths its SDKs use, so that http://HOST/_p/groq stands in for https://api.groq.com:
//
//	/_p/groq/openai/v1/chat/completions
//	/_p/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse
//	/_p/bedrock/model/anthropic.claude-sonnet-4-5/converse
//
// A path without that prefix belongs to Options.Dialect. If that is empty, it is Anthropic's if the call
// has an Anthropic-Version header, and else the first provider's in the table of provider.go that knows the
// path; OpenAI is the first. A path that a provider does not have is its 404, so that a gateway that
// builds paths wrongly is found out.
//
// Each dialect has a Profile: its limits, how it charges, and what a refusal tells. Faults work for all of
// them alike.
//
// A call with an Idempotency-Key that was answered before gets the same answer again, and costs nothing.
//
// # Invariants
//
//   - The buckets are package bucket's and nobody else's: this is the referee, so it must not import
//     internal/budget nor anything of internal/gateway.
//   - It never reads a clock but through Options.Now, and sleeps only on timers, so that it runs under
//     testing/synctest.
//   - Everything is bounded: bodies, accounts, faults, arrivals, calls in flight.
//   - API keys are kept as short hashes only. A request signed with AWS Signature Version 4 counts for the
//     id of the key it was signed with.
//
// How many tokens a call has is counted from its text, a token for every four bytes, unless the call says
// otherwise; see count.go.
package fakeprovider
