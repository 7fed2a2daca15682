// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command app is a tenant of the demo: it calls LLM providers through the official SDKs with their default
// settings, at a rate that its driver asks for. It knows nothing of Headgate: the base URLs come from
// OPENAI_BASE_URL and ANTHROPIC_BASE_URL, which injection sets, and the keys from OPENAI_API_KEY and
// ANTHROPIC_API_KEY, as the SDKs read them.
//
//	app --role support --listen :8090
//	app call [--openai] [--stream] [--tokens N]
//
// POST /run starts a load (see package load), GET /result says what became of it; the result is also
// printed as one line of JSON when the load has ended. POST /call makes a single call and answers with its
// outcome. The subcommand call does so too and exits with 0 if it ended well, as Jobs and init containers do.
package main
